import { median } from "../src/stats/distribution/summary.ts";

/** Meaning of a number: its unit, and whether a lower or a higher one is better. */
export interface Metric {
  readonly unit: string;
  readonly better: "lower" | "higher";
  /** No peer compares with it. */
  readonly oursOnly?: true;
  /** Added to both values before the ratio, where zero is a valid value. */
  readonly addend?: number;
}

/** One comparison as printed; all values are medians over the rounds. */
export interface Row {
  readonly bench: string;
  readonly case: string;
  readonly metric: string;
  readonly unit: string;
  /** Null where ours failed, for the reason below. */
  readonly ours: number | null;
  readonly peer: string | null;
  readonly peerValue: number | null;
  /** Above 1 means that ours is better; null where there is nothing to compare with. */
  readonly ratio: number | null;
  readonly better: Metric["better"];
  readonly rounds: number;
  readonly device: string;
  readonly software: boolean;
  /** Reason for a missing ratio. */
  readonly reason?: string;
}

/** A row of values of ours. */
export type MeasuredRow = Row & { readonly ours: number };

/** Result of a peer: its value in each round, or the reason why it has none. */
export type PeerResult = { readonly values: readonly number[] } | { readonly reason: string };

/** Fields that rows of one bench and case share. */
export type RowContext = Pick<Row, "bench" | "case" | "rounds" | "device" | "software">;

const DIGITS = 5;

/**
 * A row from the values of all rounds, ours and a peer's, or the reason why there are none; no peer for a metric without
 * comparison.
 */
export function createRow(
  context: RowContext,
  metric: readonly [string, Metric],
  ourValues: readonly number[],
  peer: (PeerResult & { readonly name: string }) | null,
): MeasuredRow;
export function createRow(
  context: RowContext,
  metric: readonly [string, Metric],
  ourValues: PeerResult,
  peer: (PeerResult & { readonly name: string }) | null,
): Row;
export function createRow(
  { bench, case: name, rounds, device, software }: RowContext,
  [metric, { unit, better, addend = 0 }]: readonly [string, Metric],
  ourValues: readonly number[] | PeerResult,
  peer: (PeerResult & { readonly name: string }) | null,
): Row {
  const found: PeerResult = "length" in ourValues ? { values: ourValues } : ourValues;
  const failure = "reason" in found ? found.reason : null;
  const ours = "values" in found ? median(found.values) : null;
  const peerValue = peer !== null && "values" in peer ? median(peer.values) : null;
  const ratio = ours === null || peerValue === null ? null : orientRatio(ours + addend, peerValue + addend, better);
  const reason =
    failure !== null
      ? `ours: ${failure}`
      : peer === null
        ? "no peer has this part"
        : "reason" in peer
          ? peer.reason
          : "a value is zero";
  return {
    bench,
    case: name,
    metric,
    unit,
    ours: ours === null ? null : round(ours),
    peer: peer?.name ?? null,
    peerValue: peerValue === null ? null : round(peerValue),
    ratio: ratio === null ? null : round(ratio),
    better,
    rounds,
    device,
    software,
    ...(ratio === null && { reason }),
  };
}

/** Factor by which ours is better; null where one of the two is zero and there is no ratio. */
export function orientRatio(ours: number, theirs: number, better: Metric["better"]): number | null {
  const ratio = better === "lower" ? theirs / ours : ours / theirs;
  return Number.isFinite(ratio) && ratio > 0 ? ratio : null;
}

function round(value: number): number {
  return Number(value.toPrecision(DIGITS));
}
