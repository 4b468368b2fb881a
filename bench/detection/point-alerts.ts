import { studentTQuantile } from "../../src/stats/distribution/student-t.ts";
import type { Report } from "./score-alarms.ts";

/** A rule that judges only the newest point by the earlier ones. */
export type PointRule = (history: Float64Array, value: number) => boolean;

const SAMPLE = 64;
const BOUNDARY = 0.99;

/**
 * Bencher's t-test as its documentation sets it up for latencies: up to 64 points, upper boundary 0.99, no lower one.
 * Mean, deviation by n − 1, and the quantile of Student's t with n − 1 degrees of freedom, times deviation·√(1 + 1/n).
 * It has no answer below two points, nor for equal points.
 */
export const bencherTTest: PointRule = (history, value) => {
  const sample = history.slice(-SAMPLE);
  const count = sample.length;
  if (count < 2) return false;
  const mean = sample.reduce((sum, one) => sum + one, 0) / count;
  const deviation = Math.sqrt(sample.reduce((sum, one) => sum + (one - mean) ** 2, 0) / (count - 1));
  return deviation > 0 && value > mean + studentTQuantile(BOUNDARY, count - 1) * deviation * Math.sqrt(1 + 1 / count);
};

const ALERT_THRESHOLD = 2;

/** github-action-benchmark's default: more than 200 % of the previous value. */
export const githubActionBenchmark: PointRule = (history, value) => {
  const previous = history.at(-1);
  return previous !== undefined && value / previous > ALERT_THRESHOLD;
};

/** Every point at which the rule alerts, as the series grows. */
export function playRule(rule: PointRule, values: Float64Array): readonly Report[] {
  return [...values.keys()]
    .filter((at) => rule(values.subarray(0, at), values[at] ?? Number.NaN))
    .map((index) => ({ index, seenPoints: index + 1 }));
}
