import type { HistoryPoint } from "../../protocol/history.ts";
import { encodeSketch } from "../../stats/sketch.ts";
import { toSketch } from "../../stats/sketch-sum.ts";
import { toInstant } from "../store/instant.ts";
import { createMerger, type MergedParts, type MergeParts, type Part, quantilesOf } from "./merge-parts.ts";

const STEP_UNITS_MS = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;

/** Milliseconds of a step such as `5m`. */
export function parseStepMs(step: string): number {
  const unit = step.at(-1) as keyof typeof STEP_UNITS_MS;
  return Number(step.slice(0, -1)) * STEP_UNITS_MS[unit];
}

/** What of the merged points is told. */
export interface PointForm {
  readonly percentiles: readonly number[];
  readonly sketches: boolean;
}

/**
 * Turns parts into the wire's points, oldest first, merging those in the same step; a merged point
 * stands at the start of its step and names a run only if all of it came from one.
 */
export async function mergePoints(
  parts: readonly Part[],
  stepMs: number | null,
  form: PointForm,
  merge: MergeParts = createMerger(),
): Promise<HistoryPoint[]> {
  const points: HistoryPoint[] = [];
  if (stepMs === null) {
    for (const part of parts) points.push(toPoint(part.atMs, await merge([part]), form));
    return points;
  }
  const steps = Map.groupBy(parts, ({ atMs }) => Math.floor(atMs / stepMs) * stepMs);
  for (const [atMs, members] of [...steps].toSorted(([a], [b]) => a - b))
    points.push(toPoint(atMs, await merge(members), form));
  return points;
}

/** Merged parts as a point at this time. */
export function toPoint(atMs: number, merged: MergedParts, { percentiles, sketches }: PointForm): HistoryPoint {
  const values = quantilesOf(
    merged,
    percentiles.map((p) => p / 100),
  );
  return {
    at: toInstant(atMs),
    count: merged.count,
    min: merged.min,
    max: merged.max,
    mean: merged.sum / merged.count,
    percentiles: Object.fromEntries(percentiles.map((p, i) => [`p${p}`, values[i] ?? Number.NaN])),
    ...(sketches ? { sketch: encodeSketch(toSketch(merged.sketch)) } : {}),
    runId: merged.runId,
  };
}
