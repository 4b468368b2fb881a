import { nearestRank } from "../../src/stats/distribution/summary.ts";
import { DEVICES, FROM_MS, type MeasuredYear, TO_MS, YEAR_MS } from "./measured-year.ts";

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const JUNE_MS = Date.UTC(2025, 5, 1);
const JULY_MS = Date.UTC(2025, 6, 1);

const AUGUST_MS = Date.UTC(2025, 7, 1);
const SHARES = [0.5, 0.95, 0.99];

/** Twice the sketch's own bound. */
const TOLERANCE = 0.01;

/** Percentiles of some series over a span, by series and then by part of the span. */
export interface Question {
  readonly name: string;
  /** Percentiles of each group. */
  readonly shares: readonly number[];
  /** Numbers of the series, in rising order. */
  readonly numbers: readonly number[];
  readonly fromMs: number;
  readonly toMs: number;
  /** Parts of this length; or two, before and after a time, to be compared; or null, the whole. */
  readonly parts: { readonly stepMs: number } | { readonly splitMs: number } | null;
  /** True for all devices of the busiest metric by a selector; else the series are named. */
  readonly byDevice: boolean;
}

const count = (length: number) => Array.from({ length }, (_, index) => index + 1);
const MONTH = { fromMs: JUNE_MS, toMs: JULY_MS, parts: { stepMs: HOUR_MS }, shares: SHARES, byDevice: false };
const YEAR = { fromMs: FROM_MS, toMs: TO_MS, parts: { stepMs: DAY_MS }, shares: SHARES, byDevice: false };
const DEVICES_OF_ONE = { numbers: count(DEVICES), byDevice: true };

export const QUESTIONS: readonly Question[] = [
  { ...MONTH, name: "a month by hour", numbers: [1] },
  { ...MONTH, name: "a month by hour, 10 series", numbers: count(10) },
  { ...MONTH, name: "a month by hour, a nightly series", numbers: [200] },
  { ...YEAR, name: "a year by day", numbers: [1] },
  { ...YEAR, ...DEVICES_OF_ONE, name: "a year over 20 devices", parts: null },
  { ...YEAR, ...DEVICES_OF_ONE, name: "a year by day over 20 devices" },
  // The tenth series is one of those that are slower from July on.
  { ...MONTH, name: "two months compared", numbers: [10], toMs: AUGUST_MS, parts: { splitMs: JULY_MS }, shares: [0.5] },
];

/** A percentile's bounds in each group: definitions may differ by a rank, and a sketch by its error. */
export interface Expected {
  readonly low: Float64Array;
  readonly high: Float64Array;
}

/** The answer by sorting all samples. Groups without samples are left out. */
export function computeAnswer(year: MeasuredYear, question: Question): Expected {
  const groups = new Map<number, number[]>();
  const asked = new Set(question.numbers);
  for (const [index, no] of year.no.entries()) {
    const atMs = year.atMs[index]!;
    if (!asked.has(no) || atMs < question.fromMs || atMs >= question.toMs) continue;
    const place = no * YEAR_MS + partOf(question, atMs);
    const group = groups.get(place) ?? [];
    groups.set(place, group);
    const first = index * year.samplesPerPoint;
    for (let i = first; i < first + year.samplesPerPoint; i++) group.push(year.samples[i]!);
  }
  const low: number[] = [];
  const high: number[] = [];
  for (const place of [...groups.keys()].toSorted((a, b) => a - b)) {
    const sorted = Float64Array.from(groups.get(place)!).toSorted();
    for (const share of question.shares) {
      low.push(sorted[Math.max(0, Math.floor(sorted.length * share) - 1)]! * (1 - TOLERANCE));
      high.push(nearestRank(sorted, share) * (1 + TOLERANCE));
    }
  }
  return { low: Float64Array.from(low), high: Float64Array.from(high) };
}

/** Rises with time, and stays below a year. */
function partOf({ parts }: Question, atMs: number): number {
  if (parts === null) return 0;
  return "stepMs" in parts ? Math.floor((atMs - FROM_MS) / parts.stepMs) : Number(atMs >= parts.splitMs);
}

/** Throws where an answer has other groups, or a percentile that no definition gives. */
export function checkAnswer({ low, high }: Expected, output: Float32Array): void {
  if (output.length !== low.length) throw new Error(`it has ${output.length} percentiles, not ${low.length}`);
  const wrong = output.findIndex((value, index) => !(value >= low[index]! && value <= high[index]!));
  if (wrong >= 0) throw new Error(`percentile ${wrong} is ${output[wrong]}, not ${low[wrong]} to ${high[wrong]}`);
}
