import type { HistoryPoint } from "../../protocol/history.ts";
import { type Aggregate, mergeInto, openAggregate, openQuantiles } from "../../stats/distribution.ts";
import { decodeSketch, encodeSketch } from "../../stats/sketch.ts";
import { toInstant } from "../store/instant.ts";

const STEP_UNITS_MS = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;

/** Milliseconds of a step such as `5m`. */
export function parseStepMs(step: string): number {
  const unit = step.at(-1) as keyof typeof STEP_UNITS_MS;
  return Number(step.slice(0, -1)) * STEP_UNITS_MS[unit];
}

/** A point or a part of a series that is merged with others of its step. */
interface Part extends Aggregate {
  readonly atMs: number;
  readonly runId: string | null;
}

/** What of the merged points is told. */
export interface PointForm {
  readonly percentiles: readonly number[];
  readonly sketches: boolean;
}

/**
 * Turns parts (oldest first) into the wire's points, merging those in the same step; a merged point
 * stands at the start of its step and names a run only if all of it came from one.
 */
export function mergePoints(parts: readonly Part[], stepMs: number | null, form: PointForm): HistoryPoint[] {
  if (stepMs === null) return parts.map((part) => toPoint(part.atMs, [part], form));
  const steps = Map.groupBy(parts, ({ atMs }) => Math.floor(atMs / stepMs) * stepMs);
  return [...steps].map(([atMs, members]) => toPoint(atMs, members, form));
}

function toPoint(atMs: number, members: readonly Part[], { percentiles, sketches }: PointForm): HistoryPoint {
  const merged = openAggregate();
  for (const member of members) mergeInto(merged, member, decodeSketch(member.sketch));
  const values = openQuantiles(
    merged,
    percentiles.map((p) => p / 100),
  );
  const runId = members[0]?.runId ?? null;
  return {
    at: toInstant(atMs),
    count: merged.count,
    min: merged.min,
    max: merged.max,
    mean: merged.sum / merged.count,
    percentiles: Object.fromEntries(percentiles.map((p, i) => [`p${p}`, values[i] ?? Number.NaN])),
    ...(sketches ? { sketch: encodeSketch(merged.sketch) } : {}),
    runId: members.every((member) => member.runId === runId) ? runId : null,
  };
}
