import type { HistoryPoint } from "../../protocol/history.ts";
import { aggregateQuantile, mergeAggregates } from "../../stats/distribution.ts";
import type { StoredPoint } from "../store/series-store.ts";
import { toInstant } from "../store/instant.ts";

const STEP_UNITS_MS = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;

/** Milliseconds of a step such as `5m`. */
export function parseStepMs(step: string): number {
  const unit = step.at(-1) as keyof typeof STEP_UNITS_MS;
  return Number(step.slice(0, -1)) * STEP_UNITS_MS[unit];
}

/**
 * Turns stored points (oldest first) into the wire's, merging those in the same step; a merged point
 * stands at the start of its step and names a run only if all of it came from one.
 */
export function mergePoints(
  stored: readonly StoredPoint[],
  stepMs: number | null,
  percentiles: readonly number[],
): HistoryPoint[] {
  const groups = new Map<number | StoredPoint, StoredPoint[]>();
  for (const point of stored) {
    const group = stepMs === null ? point : Math.floor(point.atMs / stepMs) * stepMs;
    const members = groups.get(group);
    if (members === undefined) groups.set(group, [point]);
    else members.push(point);
  }
  return [...groups].map(([group, members]) => {
    const aggregate = mergeAggregates(members);
    const runIds = new Set(members.map((member) => member.runId));
    return {
      at: toInstant(typeof group === "number" ? group : group.atMs),
      count: aggregate.count,
      min: aggregate.min,
      max: aggregate.max,
      mean: aggregate.sum / aggregate.count,
      percentiles: Object.fromEntries(percentiles.map((p) => [`p${p}`, aggregateQuantile(aggregate, p / 100)])),
      sketch: aggregate.sketch,
      runId: runIds.size === 1 ? ([...runIds][0] ?? null) : null,
    };
  });
}
