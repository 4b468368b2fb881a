import { quantileOfSorted } from "./quantile.ts";

/** A statistic of a sample, with the bounds between which 95 % of its resamples lie. */
export interface BootstrapEstimate {
  readonly value: number;
  readonly low: number;
  readonly high: number;
}

/** How a bootstrap is drawn. */
export interface BootstrapPlan {
  /** A word of 32 bits. */
  readonly seed: number;
  /** The most; fewer where `work` would not do. */
  readonly resamples: number;
  /** Steps of arithmetic that all resamples together may take. */
  readonly work: number;
}

/** The fewest resamples, whatever they cost: bounds of 95 % would rest on too few beyond them. */
const FEWEST = 400;

/** As many resamples as a plan has steps for. */
export function countResamples({ resamples, work }: BootstrapPlan, costOfOne: number): number {
  return Math.min(resamples, Math.max(FEWEST, Math.floor(work / costOfOne)));
}

/**
 * The percentile interval of 95 % (Efron and Tibshirani, An Introduction to the Bootstrap, 1993, chapter 13), between
 * order statistics by linear interpolation. Sorts `resampled` in place.
 */
export function percentileBounds(resampled: Float64Array): { readonly low: number; readonly high: number } {
  resampled.sort();
  return { low: quantileOfSorted(resampled, 0.025), high: quantileOfSorted(resampled, 0.975) };
}
