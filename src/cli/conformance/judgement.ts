import { medianIntervalEnds, wilsonInterval } from "../../stats/distribution/intervals.ts";
import { nearestRank, quantile } from "../../stats/distribution/summary.ts";

/** Verdict on one property; `untold`: it cannot be told, and the sentence says why. */
export interface Judgement {
  readonly verdict: "passed" | "failed" | "untold";
  readonly figures: Readonly<Record<string, number | null>>;
  /** How it was judged, in words with figures. */
  readonly sentence: string;
}

/** What deadlines are judged by. */
export interface Bounds {
  readonly deadlineMs: number;
  /** How much later than its deadline an end may be seen. */
  readonly toleranceMs: number;
}

/** A request of an open loop, as it was seen from here. */
export interface Seen {
  /** Scheduled arrival, from the beginning of its load. */
  readonly atMs: number;
  /** From the scheduled arrival to the sending. */
  readonly lagMs: number;
  /** HTTP status; 0: the connection broke; −1: closed from here, without an answer. */
  readonly status: number;
  /** From the scheduled arrival to the end. */
  readonly latencyMs: number;
  /** How much earlier the end may have come: it was seen behind a stall of this process. */
  readonly doubtMs: number;
}

export function isAnswer({ status }: Pick<Seen, "status">): boolean {
  return status >= 200 && status < 300;
}

/** In time, late, or neither: it was seen late in a stall of this process. */
export function judgeEnd(
  { status, latencyMs, doubtMs }: Seen,
  { deadlineMs, toleranceMs }: Bounds,
): "in-time" | "late" | "blurred" {
  const lastMs = deadlineMs + toleranceMs;
  if (status !== -1 && latencyMs <= lastMs) return "in-time";
  return status !== -1 && latencyMs - doubtMs <= lastMs ? "blurred" : "late";
}

/** A share against the most that it may be: `passed` where its whole interval of 95 % is below, `failed` where it is above. */
export function judgeShare(count: number, trials: number, most: number): Judgement["verdict"] {
  if (trials === 0) return "untold";
  const { low, high } = wilsonInterval(count, trials);
  return high <= most ? "passed" : low > most ? "failed" : "untold";
}

/** The median of some rounds with its interval of 95 %; null below six rounds. Source: `medianIntervalEnds`. */
export function medianOfRounds(values: readonly number[]): { value: number; low: number; high: number } | null {
  const ends = medianIntervalEnds(values.length);
  if (ends === null) return null;
  const sorted = Float64Array.from(values).toSorted();
  const [low, high] = ends.map((end) => nearestRank(sorted, end));
  return { value: quantile(sorted, 0.5), low: low!, high: high! };
}

/** A median against the most that it may be, by its interval. */
export function judgeMedian(values: readonly number[], most: number): Judgement["verdict"] {
  const median = medianOfRounds(values);
  if (median === null) return "untold";
  return median.high <= most ? "passed" : median.low > most ? "failed" : "untold";
}

export function untold(sentence: string, figures: Judgement["figures"] = {}): Judgement {
  return { verdict: "untold", figures, sentence };
}

/** Milliseconds in words: whole ones from 10. */
export function inMs(value: number): string {
  return `${Math.abs(value) < 10 ? Number(value.toFixed(1)) : Math.round(value)} ms`;
}

/** A share in words: `0.05 %`. */
export function inPercent(share: number): string {
  return `${Number((100 * share).toPrecision(2))} %`;
}

/** `3 of 4,000 (95 %: 0.03 % to 0.22 %)`. */
export function inShare(count: number, trials: number): string {
  const { low, high } = wilsonInterval(count, trials);
  return `${count.toLocaleString("en")} of ${trials.toLocaleString("en")} (95 %: ${inPercent(low)} to ${inPercent(high)})`;
}

/** Lag in which deadlines can no longer be judged, as a share of the tolerance. */
const LAG_SHARE = 0.5;
/** Blurred ends beyond this share leave too little to judge. */
const BLURRED_SHARE = 0.02;

/** Reason why this process itself was too slow to see what it judges; null where it was not. */
export function findLag(seen: readonly Seen[], bounds: Bounds): string | null {
  const lagMs = lagP99Ms(seen);
  const most = LAG_SHARE * bounds.toleranceMs;
  if (lagMs > most) {
    const words = `This generator was ${inMs(lagMs)} behind its schedule (p99), and ${inMs(most)} is the most for a verdict`;
    return `${words}: use a request with more work, or another machine.`;
  }
  const blurred = countBlurred(seen, bounds);
  if (blurred <= BLURRED_SHARE * seen.length) return null;
  return `${blurred} of ${seen.length} ends came in stalls of this generator: use an idle machine.`;
}

/** Takes back a verdict where the generator was too slow. */
export function doubtLag(judgement: Judgement, seen: readonly Seen[], bounds: Bounds): Judgement {
  if (seen.length === 0) return judgement;
  const figures = { ...judgement.figures, lagP99Ms: lagP99Ms(seen), blurred: countBlurred(seen, bounds) };
  const lag = findLag(seen, bounds);
  return lag === null ? { ...judgement, figures } : untold(lag, figures);
}

function lagP99Ms(seen: readonly Seen[]): number {
  return seen.length === 0
    ? 0
    : quantile(
        seen.map((each) => each.lagMs),
        0.99,
      );
}

function countBlurred(seen: readonly Seen[], bounds: Bounds): number {
  return seen.filter((each) => judgeEnd(each, bounds) === "blurred").length;
}
