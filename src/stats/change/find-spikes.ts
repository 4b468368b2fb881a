import { NOISE_FLOOR } from "../compare/threshold.ts";
import { median } from "../distribution/summary.ts";

/** Normal distribution: standard deviation ÷ median absolute deviation. */
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

/** So many points in a row are a level of its own. */
export const MINIMUM_SEGMENT = 4;

export interface SpikeSettings {
  /** So many points in a row are a level and no spike. */
  readonly minimumSegment?: number | undefined;
  /** Share of the median below which nothing sticks out. */
  readonly noiseFloor?: number | undefined;
}

/** Distance of a spike from its surroundings, in standard deviations. */
const DEVIATIONS = 6;

/**
 * Indices of the points that stick out of their surroundings without being a level, in order: what an opening or a
 * closing by `minimumSegment` points takes away (Rohwer's LULU operators, Journal of Approximation Theory 58, 1989),
 * where that is more than six standard deviations and more than the noise floor. The last points of a series may turn
 * out to be a level when more have come.
 */
export function findSpikes(
  values: ArrayLike<number>,
  { minimumSegment = MINIMUM_SEGMENT, noiseFloor = NOISE_FLOOR }: SpikeSettings = {},
): readonly number[] {
  const series = Float64Array.from(values);
  if (series.length < minimumSegment) return [];
  const height = Math.max(DEVIATIONS * neighbourNoise(series), noiseFloor * Math.abs(median(series)));
  const opened = open(series, minimumSegment);
  const closed = open(series.map(negate), minimumSegment).map(negate);
  return [...series.keys()].filter((at) => series[at]! - opened[at]! > height || closed[at]! - series[at]! > height);
}

/** For each point the highest minimum of all runs of `length` points that contain it. */
function open(series: Float64Array, length: number): Float64Array {
  const runs = series.length - length + 1;
  const lows = series.subarray(0, runs).map((_, at) => Math.min(...series.subarray(at, at + length)));
  return series.map((_, at) => Math.max(...lows.subarray(Math.max(0, at - length + 1), at + 1)));
}

function negate(value: number): number {
  return -value;
}
