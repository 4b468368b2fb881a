import { median } from "../../src/stats/distribution/summary.ts";
import { robustTrend } from "../../src/stats/change/robust-trend.ts";

/** Trend of a quantity over time. */
export interface Growth {
  readonly name: string;
  readonly unit: string;
  readonly median: number;
  /** Growth per hour, with its interval at 95 %; null with too few minutes. */
  readonly perHour: { readonly slope: number; readonly low: number; readonly high: number } | null;
  /** True if there is no sign of growth, or less of it than the allowed share. */
  readonly isFlat: boolean;
}

/** A value at a time in seconds. */
export type TimedValue = readonly [atS: number, value: number];

const HOUR_S = 3_600;
const MINUTE_S = 60;
/** Caches fill and code is compiled at first: this share of the time is left out. */
export const SETTLING_SHARE = 1 / 6;
/** Allowed growth per hour, as a share of the median. */
const ALLOWED_SHARE = 0.02;

/**
 * The trend over the medians of whole minutes after the first sixth, with its interval. Samples a few seconds apart are
 * correlated, and would make it look more certain than it is.
 * Source: the estimator of Theil and Sen.
 */
export function judgeGrowth(name: string, unit: string, values: readonly TimedValue[]): Growth {
  const endS = values.at(-1)?.[0] ?? 0;
  const settled = values.filter(([atS]) => atS >= endS * SETTLING_SHARE);
  const minutes = [...Map.groupBy(settled, ([atS]) => Math.floor(atS / MINUTE_S))];
  const x = minutes.map(([minute]) => (minute * MINUTE_S) / HOUR_S);
  const y = minutes.map(([, part]) => median(part.map(([, value]) => value)));
  const trend = robustTrend(x, y);
  const level = median(y);
  if (trend === null) return { name, unit, median: level, perHour: null, isFlat: false };
  const { slope, low, high } = trend;
  return { name, unit, median: level, perHour: { slope, low, high }, isFlat: low <= level * ALLOWED_SHARE };
}
