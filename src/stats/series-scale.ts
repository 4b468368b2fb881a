import { median } from "./median.ts";

/** Of a normal distribution: standard deviation ÷ median distance from the centre. */
const TO_DEVIATION = 1.4826;

/**
 * The standard deviation of a series about a level that may move: the median distance of neighbours, as for normal
 * noise (von Neumann et al., Annals of Mathematical Statistics 12, 1941, made robust by the median). A few steps and
 * spikes do not count in it. 0 of fewer than two values.
 */
export function estimateNoise(values: ArrayLike<number>): number {
  if (values.length < 2) return 0;
  const distances = Array.from(values)
    .slice(1)
    .map((value, at) => Math.abs(value - (values[at] as number)));
  return (median(distances) * TO_DEVIATION) / Math.SQRT2;
}
