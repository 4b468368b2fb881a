import { type Distribution, mergeInto, type OpenAggregate, openAggregate, openQuantiles } from "./distribution.ts";
import { addToSketch, encodeSketch } from "./sketch.ts";

/** A distribution that values are still added to; it takes the same room for a million of them. */
export interface OpenDistribution extends OpenAggregate {
  squares: number;
}

export function openDistribution(): OpenDistribution {
  return { ...openAggregate(), squares: 0 };
}

/** Counts a value; one that is not finite throws a RangeError. */
export function addToDistribution(open: OpenDistribution, value: number): void {
  addToSketch(open.sketch, value);
  open.count++;
  open.sum += value;
  open.squares += value ** 2;
  open.min = Math.min(open.min, value);
  open.max = Math.max(open.max, value);
}

/** What both together have seen. */
export function mergeDistributions(one: OpenDistribution, other: OpenDistribution): OpenDistribution {
  const merged = openDistribution();
  for (const part of [one, other]) {
    mergeInto(merged, part, part.sketch);
    merged.squares += part.squares;
  }
  return merged;
}

/**
 * Percentiles are the sketch's, within its error; the standard deviation divides by n − 1. Null where nothing
 * was added.
 */
export function closeDistribution(open: OpenDistribution): Distribution | null {
  const { count, min, max, sum, squares, sketch } = open;
  if (count === 0) return null;
  const [p50 = min, p90 = min, p95 = min, p99 = min] = openQuantiles(open, [0.5, 0.9, 0.95, 0.99]);
  const variance = count > 1 ? Math.max(0, squares - sum ** 2 / count) / (count - 1) : 0;
  const mean = sum / count;
  return {
    count,
    min,
    max,
    sum,
    mean,
    standardDeviation: Math.sqrt(variance),
    p50,
    p90,
    p95,
    p99,
    sketch: encodeSketch(sketch),
  };
}
