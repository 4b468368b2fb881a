import type { HistoryPoint } from "../../../protocol/history/history.ts";
import type { Aggregate } from "../../../stats/distribution/distribution.ts";
import { medianIntervalEnds } from "../../../stats/distribution/intervals.ts";
import {
  addSketchText,
  clearSketchSum,
  createSketchSum,
  type SketchSum,
  sumQuantiles,
  textQuantiles,
  toSketch,
} from "../../../stats/distribution/sketch-sum.ts";
import { decodeSketch, encodeSketch, type Sketch } from "../../../stats/distribution/sketch.ts";
import { toInstant } from "../../clock.ts";
import { endShortTurn } from "../../turns.ts";

/** Parts merged in a short turn: some hundred microseconds, with the quantiles of their steps. */
const TURN_PARTS = 96;

/** Part of a series: a point, or a rollup. */
export interface Part extends Aggregate {
  readonly atMs: number;
  readonly runId: string | null;
}

/** Merged parts. */
export interface MergedParts {
  readonly count: number;
  readonly min: number;
  readonly max: number;
  readonly sum: number;
  /** Text of the only sketch, or the sum of several, which the next merge reuses. */
  readonly sketch: string | SketchSum;
  /** Run of all parts; null where they have several or none. */
  readonly runId: string | null;
}

/** Merges any number of parts exactly, in portions, yielding to other requests in between. */
type MergeParts = (parts: readonly Part[]) => Promise<MergedParts>;

/** One for each request: its merges share a buffer, one after the other. */
export function createMerger(): MergeParts {
  const summed = createSketchSum();
  let done = 0;
  return async (parts) => {
    let [count, sum, min, max] = [0, 0, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
    const [first, second] = parts;
    const runId = first?.runId ?? null;
    let isOneRun = true;
    // Most steps are one rollup, whose sketch needs no sum.
    const sketch = first !== undefined && second === undefined ? first.sketch : summed;
    if (sketch === summed) clearSketchSum(summed);
    for (const part of parts) {
      if (sketch === summed) addSketchText(summed, part.sketch);
      count += part.count;
      sum += part.sum;
      min = Math.min(min, part.min);
      max = Math.max(max, part.max);
      isOneRun &&= part.runId === runId;
      if (++done % TURN_PARTS === 0) await endShortTurn();
    }
    return { count, min, max, sum, sketch, runId: isOneRun ? runId : null };
  };
}

/** Quantiles of merged parts: from the sketch, but never outside the exact extremes. */
export function quantilesOf({ sketch, min, max }: MergedParts, ps: readonly number[]): number[] {
  const values = typeof sketch === "string" ? textQuantiles(sketch, ps) : sumQuantiles(sketch, ps);
  return values.map((value) => Math.min(max, Math.max(min, value)));
}

/** The sketch of merged parts. */
export function sketchOf({ sketch }: MergedParts): Sketch {
  return typeof sketch === "string" ? decodeSketch(sketch) : toSketch(sketch);
}

/** A 95 % confidence interval of the median of merged parts; null below six samples. */
export function medianIntervalOf(merged: MergedParts): { low: number; high: number } | null {
  const ends = medianIntervalEnds(merged.count);
  if (ends === null) return null;
  const [low = Number.NaN, high = Number.NaN] = quantilesOf(merged, ends);
  return { low, high };
}

const STEP_UNITS_MS = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;

/** Milliseconds of a step such as `5m`. */
export function parseStepMs(step: string): number {
  const unit = step.at(-1) as keyof typeof STEP_UNITS_MS;
  return Number(step.slice(0, -1)) * STEP_UNITS_MS[unit];
}

/** Fields of the merged points in a reply. */
export interface PointForm {
  readonly percentiles: readonly number[];
  readonly sketches: boolean;
}

/**
 * Converts parts to the wire's points, oldest first, and merges those of the same step. A merged point has the time of
 * its step's start, and names a run only if all parts came from one.
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

/** Point of merged parts at this time. */
export function toPoint(atMs: number, merged: MergedParts, { percentiles, sketches }: PointForm): HistoryPoint {
  const values = quantilesOf(
    merged,
    percentiles.map((p) => p / 100),
  );
  const named: Record<string, number> = {};
  for (const [i, p] of percentiles.entries()) named[`p${p}`] = values[i] ?? Number.NaN;
  return {
    at: instantOf(atMs),
    count: merged.count,
    min: merged.min,
    max: merged.max,
    mean: merged.sum / merged.count,
    percentiles: named,
    ...(sketches ? { sketch: encodeSketch(sketchOf(merged)) } : {}),
    runId: merged.runId,
  };
}

const INSTANTS_KEPT = 10_000;
/** Instants of steps: series of one question share them, and to write one takes longer than to merge a day. */
const instants = new Map<number, string>();

function instantOf(atMs: number): string {
  const known = instants.get(atMs);
  if (known !== undefined) return known;
  if (instants.size >= INSTANTS_KEPT) instants.clear();
  const instant = toInstant(atMs);
  instants.set(atMs, instant);
  return instant;
}
