import { keyOf, type SeriesKey } from "../../../protocol/history/series.ts";
import type { StoredSeries } from "../../store/history/series-store.ts";

/** Dimension in which the two sides of a comparison may differ. */
export type Dimension = "label" | "fingerprint";

/** Key that two series share if they differ only in these dimensions. */
export function pairKeyOf(series: SeriesKey, without: readonly Dimension[]): string {
  const { label, fingerprint, software, ...rest } = keyOf(series);
  const configuration = Object.entries(rest.configuration).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return JSON.stringify([
    { ...rest, configuration },
    without.includes("label") ? null : { label },
    without.includes("fingerprint") ? null : { fingerprint, software },
  ]);
}

export interface Pairing {
  readonly pairs: readonly (readonly [a: StoredSeries, b: StoredSeries])[];
  readonly lonelyA: readonly StoredSeries[];
  readonly lonelyB: readonly StoredSeries[];
}

/**
 * Pairs the series of two sides that are equal except where the sides differ. A dimension that only one side names
 * gives a series several partners.
 */
export function pairSeries(
  a: readonly StoredSeries[],
  b: readonly StoredSeries[],
  differing: readonly Dimension[],
): Pairing {
  const pairKey = (series: StoredSeries) => pairKeyOf(series, differing);
  const [byKeyA, byKeyB] = [Map.groupBy(a, pairKey), Map.groupBy(b, pairKey)];
  return {
    pairs: b.flatMap((one) => (byKeyA.get(pairKey(one)) ?? []).map((other) => [other, one] as const)),
    lonelyA: a.filter((one) => !byKeyB.has(pairKey(one))),
    lonelyB: b.filter((one) => !byKeyA.has(pairKey(one))),
  };
}
