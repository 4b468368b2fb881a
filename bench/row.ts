import { median } from "../src/stats/distribution/summary.ts";

/** What a number means: its unit, and whether a lower or a higher one is better. */
export interface Metric {
  readonly unit: string;
  readonly better: "lower" | "higher";
  /** Nothing of a peer compares with it. */
  readonly oursOnly?: true;
  /** Added to both values before the ratio is taken, where zero is an honest value. */
  readonly addend?: number;
}

/** One comparison as it is printed; all values are medians over the rounds. */
export interface Row {
  readonly bench: string;
  readonly case: string;
  readonly metric: string;
  readonly unit: string;
  readonly ours: number;
  readonly peer: string | null;
  readonly peerValue: number | null;
  /** Above 1 means that ours is better; null where there is nothing to compare with. */
  readonly ratio: number | null;
  readonly better: Metric["better"];
  readonly rounds: number;
  readonly device: string;
  readonly software: boolean;
  /** Why there is no ratio. */
  readonly reason?: string;
}

/** What a peer came to: its value in each round, or why it has none. */
export type PeerResult = { readonly values: readonly number[] } | { readonly reason: string };

/** What rows of one bench and case have in common. */
export type RowContext = Pick<Row, "bench" | "case" | "rounds" | "device" | "software">;

const DIGITS = 5;

/** A row from the values of all rounds, ours and those of a peer; no peer where nothing compares. */
export function createRow(
  { bench, case: name, rounds, device, software }: RowContext,
  [metric, { unit, better, addend = 0 }]: readonly [string, Metric],
  ourValues: readonly number[],
  peer: (PeerResult & { readonly name: string }) | null,
): Row {
  const ours = median(ourValues);
  const peerValue = peer !== null && "values" in peer ? median(peer.values) : null;
  const ratio = peerValue === null ? null : orientRatio(ours + addend, peerValue + addend, better);
  const reason = peer === null ? "no peer has this part" : "reason" in peer ? peer.reason : "a value is zero";
  return {
    bench,
    case: name,
    metric,
    unit,
    ours: round(ours),
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

/** How many times better ours is; null where one of the two is zero and says nothing. */
export function orientRatio(ours: number, theirs: number, better: Metric["better"]): number | null {
  const ratio = better === "lower" ? theirs / ours : ours / theirs;
  return Number.isFinite(ratio) && ratio > 0 ? ratio : null;
}

function round(value: number): number {
  return Number(value.toPrecision(DIGITS));
}
