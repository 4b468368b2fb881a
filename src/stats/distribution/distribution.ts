import {
  addToSketch,
  createSketch,
  decodeSketch,
  encodeSketch,
  mergeSketch,
  type Sketch,
  sketchQuantile,
  sketchQuantiles,
} from "./sketch.ts";
import { nearestRank } from "./summary.ts";

/** Exact count, extremes and moments, and a sketch for the rest. The wire's `Distribution` has this shape. */
export interface Distribution {
  readonly count: number;
  readonly min: number;
  readonly max: number;
  readonly sum: number;
  readonly mean: number;
  readonly standardDeviation: number;
  readonly p50: number;
  readonly p90: number;
  readonly p95: number;
  readonly p99: number;
  readonly sketch: string;
}

/**
 * Summarises samples of one unit. Percentiles are exact (nearest rank); the standard deviation divides
 * by n − 1. Throws on an empty list.
 */
export function summarise(values: ArrayLike<number>): Distribution {
  const count = values.length;
  if (count === 0) throw new RangeError("nothing to summarise");
  const sorted = Float64Array.from(values).toSorted();
  const sketch = createSketch();
  let sum = 0;
  for (const value of sorted) {
    sum += value;
    addToSketch(sketch, value);
  }
  const mean = sum / count;
  let squares = 0;
  for (const value of sorted) squares += (value - mean) ** 2;
  const at = (p: number) => nearestRank(sorted, p);
  return {
    count,
    min: at(0),
    max: at(1),
    sum,
    mean,
    standardDeviation: count > 1 ? Math.sqrt(squares / (count - 1)) : 0,
    p50: at(0.5),
    p90: at(0.9),
    p95: at(0.95),
    p99: at(0.99),
    sketch: encodeSketch(sketch),
  };
}

/** Stored form of a distribution: all that merges exactly. */
export interface Aggregate {
  readonly count: number;
  readonly min: number;
  readonly max: number;
  readonly sum: number;
  readonly sketch: string;
}

/** An aggregate that others are merged into. */
export interface OpenAggregate {
  count: number;
  min: number;
  max: number;
  sum: number;
  readonly sketch: Sketch;
}

export function openAggregate(): OpenAggregate {
  return {
    count: 0,
    min: Number.POSITIVE_INFINITY,
    max: Number.NEGATIVE_INFINITY,
    sum: 0,
    sketch: createSketch(),
  };
}

/** Merges a part; the order does not matter, but for the last digit of the sum. */
export function mergeInto(open: OpenAggregate, part: Omit<Aggregate, "sketch">, sketch: Sketch): void {
  mergeSketch(open.sketch, sketch);
  open.count += part.count;
  open.sum += part.sum;
  open.min = Math.min(open.min, part.min);
  open.max = Math.max(open.max, part.max);
}

/** The aggregate with its sketch as text, of at most `maxLength` characters (see `encodeSketch`). */
export function closeAggregate({ sketch, ...exact }: OpenAggregate, maxLength?: number): Aggregate {
  return { ...exact, sketch: encodeSketch(sketch, maxLength) };
}

/** Quantiles of an aggregate, from its sketch but never outside its exact extremes. */
export function openQuantiles({ sketch, min, max }: OpenAggregate, ps: readonly number[]): number[] {
  return sketchQuantiles(sketch, ps).map((value) => Math.min(max, Math.max(min, value)));
}

/** Merges aggregates of the same series, for others to be merged into. */
export function openMerged(parts: readonly Aggregate[]): OpenAggregate {
  const open = openAggregate();
  for (const part of parts) mergeInto(open, part, decodeSketch(part.sketch));
  return open;
}

/** Merges aggregates of the same series. Throws on an empty list. */
export function mergeAggregates(parts: readonly Aggregate[]): Aggregate {
  if (parts.length === 0) throw new RangeError("nothing to merge");
  return closeAggregate(openMerged(parts));
}

/** A quantile of an aggregate, from its sketch but never outside its exact extremes. */
export function aggregateQuantile(aggregate: Aggregate, p: number): number {
  const value = sketchQuantile(decodeSketch(aggregate.sketch), p);
  return Math.min(aggregate.max, Math.max(aggregate.min, value));
}

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

/** Merges two distributions. */
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
