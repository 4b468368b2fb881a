import { SeriesKey } from "../../../protocol/history/series.ts";
import type { StoredSeries } from "../../store/history/series-store.ts";

/** What two sides of a comparison may differ in by themselves. */
export type Dimension = "label" | "fingerprint";

/** Equal where two series are the same but for these dimensions. */
export function pairKeyOf(series: SeriesKey, without: readonly Dimension[]): string {
  const { label, fingerprint, software, ...rest } = SeriesKey.parse(series);
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
 * Pairs the series of two sides that are alike but for what the sides differ in. Where one side leaves a dimension
 * open that the other names, one series has several partners.
 */
export function pairSeries(
  a: readonly StoredSeries[],
  b: readonly StoredSeries[],
  differing: readonly Dimension[],
): Pairing {
  const keyOf = (series: StoredSeries) => pairKeyOf(series, differing);
  const [byKeyA, byKeyB] = [Map.groupBy(a, keyOf), Map.groupBy(b, keyOf)];
  return {
    pairs: b.flatMap((one) => (byKeyA.get(keyOf(one)) ?? []).map((other) => [other, one] as const)),
    lonelyA: a.filter((one) => !byKeyB.has(keyOf(one))),
    lonelyB: b.filter((one) => !byKeyA.has(keyOf(one))),
  };
}
