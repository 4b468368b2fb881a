import type { FoundChange } from "../../../protocol/history/alert.ts";
import type { SeriesKey } from "../../../protocol/history/series.ts";
import type { Statistic } from "../../../protocol/history/threshold.ts";
import { type Aggregate, aggregateQuantile } from "../../../stats/distribution/distribution.ts";
import { RELATIVE_ERROR } from "../../../stats/distribution/sketch.ts";
import { toInstant } from "../../clock.ts";
import type { Shift } from "../../store/history/detection-store.ts";

const QUANTILES: Partial<Record<Statistic, number>> = { p50: 0.5, p95: 0.95, p99: 0.99 };

export function statisticOf(point: Aggregate, statistic: Statistic): number {
  const quantile = QUANTILES[statistic];
  if (quantile !== undefined) return aggregateQuantile(point, quantile);
  if (statistic === "mean") return point.sum / point.count;
  return statistic === "min" ? point.min : point.max;
}

/** Statistic by which a series is searched. Shares come from yes and no, so their median is useless. */
export function defaultStatistic({ unit }: Pick<SeriesKey, "unit">): Statistic {
  return unit === "share" ? "mean" : "p50";
}

/** True if the points of a series are counts, not durations or rates. */
export function isCount({ subjectKind, metric }: Pick<SeriesKey, "subjectKind" | "metric">): boolean {
  return subjectKind === "model" && (metric === "rows" || metric === "executions" || metric.startsWith("refused."));
}

/**
 * Relative difference of a statistic without a real change. A percentile comes from a sketch, whose smallest move is
 * one bucket, twice its relative error; one and a half of them are allowed. 0 for exact values.
 */
export function resolutionOf(points: readonly Aggregate[], statistic: Statistic): number {
  const isExact = QUANTILES[statistic] === undefined || points.every(({ min, max }) => min === max);
  return isExact ? 0 : 3 * RELATIVE_ERROR;
}

export function toFoundChange({ evidence, afterMs, atMs, ...shift }: Shift): FoundChange {
  const { kind, thresholdId, direction, runId, revision } = shift;
  const place = { after: toInstant(afterMs), at: toInstant(atMs) };
  return { kind, direction, thresholdId, ...place, runId, revision, ...evidence };
}
