import type { Aggregate } from "../../stats/distribution.ts";
import { medianIntervalEnds } from "../../stats/median-interval.ts";
import {
  addSketchText,
  clearSketchSum,
  createSketchSum,
  type SketchSum,
  sumQuantiles,
} from "../../stats/sketch-sum.ts";
import { endTurn } from "./end-turn.ts";

/** Parts that are merged before others have their turn: about two milliseconds, since a turn takes one. */
const TURN_PARTS = 512;

/** Part of a series: a point, or a rollup. */
export interface Part extends Aggregate {
  readonly atMs: number;
  readonly runId: string | null;
}

/** Parts as one; the sketch is used again when the next are merged. */
export interface MergedParts {
  readonly count: number;
  readonly min: number;
  readonly max: number;
  readonly sum: number;
  readonly sketch: SketchSum;
  /** The run that all came from; null where that is not one. */
  readonly runId: string | null;
}

/** Merges parts exactly, however many: in portions, between which other requests have their turn. */
export type MergeParts = (parts: readonly Part[]) => Promise<MergedParts>;

/** One for each request: its merges use the same room, one after the other. */
export function createMerger(): MergeParts {
  const sketch = createSketchSum();
  let done = 0;
  return async (parts) => {
    clearSketchSum(sketch);
    let [count, sum, min, max] = [0, 0, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
    const runId = parts[0]?.runId ?? null;
    let isOneRun = true;
    for (const part of parts) {
      addSketchText(sketch, part.sketch);
      count += part.count;
      sum += part.sum;
      min = Math.min(min, part.min);
      max = Math.max(max, part.max);
      isOneRun &&= part.runId === runId;
      if (++done % TURN_PARTS === 0) await endTurn();
    }
    return { count, min, max, sum, sketch, runId: isOneRun ? runId : null };
  };
}

/** Quantiles of merged parts: from the sketch, but never outside the exact extremes. */
export function quantilesOf({ sketch, min, max }: MergedParts, ps: readonly number[]): number[] {
  return sumQuantiles(sketch, ps).map((value) => Math.min(max, Math.max(min, value)));
}

/** A 95 % confidence interval of the median of merged parts; null below six samples. */
export function medianIntervalOf(merged: MergedParts): { low: number; high: number } | null {
  const ends = medianIntervalEnds(merged.count);
  if (ends === null) return null;
  const [low = Number.NaN, high = Number.NaN] = quantilesOf(merged, ends);
  return { low, high };
}
