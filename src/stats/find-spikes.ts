import { median } from "./median.ts";
import { estimateNoise } from "./series-scale.ts";

export interface SpikeSettings {
  /** So many points in a row are a level and no spike. */
  readonly minimumSegment?: number;
  /** Share of the level below which nothing sticks out. */
  readonly noiseFloor?: number;
}

/** How many standard deviations a spike stands above what lies around it, or below. */
const DEVIATIONS = 6;

/**
 * Indices of the points that stick out of their surroundings without being a level, in order: what an opening and a
 * closing by `minimumSegment` points take away (Rohwer's LULU operators, "Idempotent one-sided approximation of median
 * smoothers", J. Approx. Theory 58, 1989), where that is more than six standard deviations and more than the noise
 * floor. The last points of a series may turn out to be a level when more have come.
 */
export function findSpikes(
  values: ArrayLike<number>,
  { minimumSegment = 4, noiseFloor = 0.01 }: SpikeSettings = {},
): readonly number[] {
  const series = Float64Array.from(values);
  if (series.length < minimumSegment) return [];
  const height = Math.max(DEVIATIONS * estimateNoise(series), noiseFloor * Math.abs(median(series)));
  const floor = open(series, minimumSegment);
  const roof = open(series.map((value) => -value), minimumSegment).map((value) => -value);
  return Array.from(series.keys()).filter(
    (at) =>
      (series[at] as number) - (floor[at] as number) > height || (roof[at] as number) - (series[at] as number) > height,
  );
}

/** For each point the highest of the lows of all runs of `length` points that hold it. */
function open(series: Float64Array, length: number): Float64Array {
  const lows = Float64Array.from({ length: series.length - length + 1 }, (_, at) =>
    Math.min(...series.subarray(at, at + length)),
  );
  return series.map((_, at) => Math.max(...lows.subarray(Math.max(0, at - length + 1), at + 1)));
}
