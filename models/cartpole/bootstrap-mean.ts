import { philox4x32, STREAM, toUnitInterval } from "./philox.ts";

/** A mean and its 95 % interval, in the unit of the values. */
export type MeanInterval = { mean: number; low: number; high: number };

const RESAMPLES = 2000;
const SEED = 1;

/**
 * Mean with its percentile bootstrap interval, 2,000 resamples from a fixed seed. Returns are capped at 500, so
 * a normal interval would reach above what is possible; this one cannot. It has no width where all are equal.
 *
 * Efron, "Bootstrap Methods: Another Look at the Jackknife", 1979.
 *
 * @throws RangeError without values.
 */
export function bootstrapMean(values: readonly number[]): MeanInterval {
  if (values.length === 0) throw new RangeError("no values, no mean");
  const means = Array.from({ length: RESAMPLES }, (_, resample) => meanOfResample(values, resample));
  means.sort((a, b) => a - b);
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  return { mean, low: means[RESAMPLES * 0.025]!, high: means[RESAMPLES * 0.975 - 1]! };
}

function meanOfResample(values: readonly number[], resample: number): number {
  const n = values.length;
  let sum = 0;
  for (let drawn = 0; drawn < n; drawn += 4) {
    const words = philox4x32([drawn, resample, 0, 0], [SEED, STREAM.bootstrap]);
    for (let i = 0; i < Math.min(4, n - drawn); i++) sum += values[Math.floor(toUnitInterval(words[i]!) * n)]!;
  }
  return sum / n;
}
