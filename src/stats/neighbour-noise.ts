import { median } from "./median.ts";

/** Of a normal distribution: standard deviation ÷ median distance from the centre. */
const TO_DEVIATION = 1.4826;

/**
 * The standard deviation of a series about a level that may move, in the series' unit: the median distance between
 * neighbours, as for normal noise (after von Neumann et al., Annals of Mathematical Statistics 12, 1941). A few steps
 * and spikes do not count in it. 0 of fewer than two values.
 */
export function neighbourNoise(values: Float64Array): number {
  if (values.length < 2) return 0;
  const distances = values.subarray(1).map((value, at) => Math.abs(value - values[at]!));
  return (median(distances) * TO_DEVIATION) / Math.SQRT2;
}
