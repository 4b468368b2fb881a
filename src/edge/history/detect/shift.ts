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

/** What a series is searched by: a share is of yes and no, so that its median tells nothing. */
export function defaultStatistic({ unit }: Pick<SeriesKey, "unit">): Statistic {
  return unit === "share" ? "mean" : "p50";
}

/** Whether a series only counts: each of its points says how often, not how fast. */
export function isCount({ subjectKind, metric }: Pick<SeriesKey, "subjectKind" | "metric">): boolean {
  return subjectKind === "model" && (metric === "rows" || metric.startsWith("refused."));
}

/**
 * The share that two values of a statistic may differ by though nothing changed: a percentile comes out of a
 * sketch, where the smallest move is one bucket, twice its relative error. One and a half of them is what counts
 * as none. 0 where all values are exact.
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
