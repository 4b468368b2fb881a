import type { MeasuredPercentile } from "../../protocol/scenario.ts";
import { LIMITS } from "../../protocol/limits.ts";
import { nearestRank } from "../../stats/nearest-rank.ts";
import { percentileInterval } from "../../stats/percentile-interval.ts";

/** Percentiles that every result tells. */
const USUAL = [0.5, 0.9, 0.95, 0.99, 0.999];

/** Of each bound of an interval, as MLPerf's early stopping has it; of both together, it is 0.98. */
const SIDE_CONFIDENCE = 0.99;
const CONFIDENCE = 0.98;

/**
 * The usual percentiles and those that are asked for, with their intervals, by percentile. Latencies of queries that
 * failed are Infinity: a percentile that is one of them is left out, an interval that reaches them is open.
 */
export function measurePercentiles(latenciesMs: Float64Array, wanted: readonly number[]): MeasuredPercentile[] {
  const sorted = latenciesMs.toSorted();
  const percentiles = [...new Set([...wanted, ...USUAL])]
    .slice(0, LIMITS.scenarioPercentiles)
    .toSorted((a, b) => a - b);
  return percentiles.flatMap((percentile) => {
    const ms = nearestRank(sorted, percentile);
    if (!Number.isFinite(ms)) return [];
    const { low, high } = percentileInterval(percentile, sorted.length, SIDE_CONFIDENCE);
    return { percentile, ms, lowMs: at(sorted, low), highMs: at(sorted, high), confidence: CONFIDENCE };
  });
}

function at(sorted: Float64Array, place: number | null): number | null {
  const ms = place === null ? undefined : sorted[place];
  return ms !== undefined && Number.isFinite(ms) ? ms : null;
}
