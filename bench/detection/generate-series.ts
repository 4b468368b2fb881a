import { normalQuantile } from "../../src/stats/distribution/normal.ts";
import { philox4x32 } from "../../src/stats/random/draws.ts";

/** A known change: from the first value of the new regime to its completion; both are the same index for a step. */
export interface KnownChange {
  readonly index: number;
  readonly lastIndex: number;
}

export interface GeneratedSeries {
  readonly values: Float64Array;
  readonly changes: readonly KnownChange[];
}

/** Composition of a series. Shares are of the level, which begins at 100. */
export interface Recipe {
  readonly length: number;
  /** Standard deviation of the noise, or its scale for heavy tails. */
  readonly noise: number;
  readonly tails?: "heavy";
  /** Upward steps, evenly apart but for a jitter. */
  readonly steps?: { readonly count: number; readonly size: number };
  /** A slope of this size over this many points. */
  readonly drift?: { readonly size: number; readonly points: number };
  /** Frequency of spikes; every fifth is a pair. Each is 1.2 to 4 times the level. */
  readonly spikes?: number;
  /** A second mode above the first, and the probability of staying in a mode. */
  readonly modes?: { readonly size: number; readonly stay: number };
  /** Missing stretches of 10 to 30 points. */
  readonly gaps?: number;
}

/** Points before the first change, after the last one, and around each. */
const MARGIN = 30;

/** A pure function of recipe and seed. Changes lie 30 points from either end, and steps nearly as far from each other. */
export function generateSeries(recipe: Recipe, seed: number): GeneratedSeries {
  const draw = drawUniform(seed);
  const { length, steps = { count: 0, size: 0 }, drift, spikes = 0, modes } = recipe;
  const apart = (length - 2 * MARGIN) / Math.max(1, steps.count);
  const stepsAt = Array.from({ length: steps.count }, (_, at) => Math.floor(MARGIN + apart * (at + 0.5 * draw())));
  const driftAt = drift === undefined ? length : Math.floor(MARGIN + draw() * (length - 2 * MARGIN - drift.points));
  let upperMode = false;
  let pair = 1;
  const values = Float64Array.from({ length }, (_, at) => {
    let level = 100 * (1 + steps.size) ** stepsAt.filter((index) => index <= at).length;
    if (drift !== undefined) level *= 1 + drift.size * Math.min(1, Math.max(0, (at - driftAt + 1) / drift.points));
    if (modes !== undefined && draw() > modes.stay) upperMode = draw() < 0.4;
    if (modes !== undefined && upperMode) level *= 1 + modes.size;
    const value = level * Math.max(0.05, 1 + recipe.noise * (recipe.tails === "heavy" ? heavy(draw) : normal(draw)));
    const isSpike = pair > 1 || draw() < spikes;
    if (!isSpike) return value;
    pair = pair > 1 ? 1 : draw() < 0.2 ? 2 : 1;
    return value * (1.2 + 2.8 * draw());
  });
  const changes = stepsAt.map((index) => ({ index, lastIndex: index }));
  if (drift !== undefined) changes.push({ index: driftAt, lastIndex: driftAt + drift.points - 1 });
  return cutGaps({ values, changes }, recipe.gaps ?? 0, draw);
}

/** Missing points are removed: those after them move up, and so do changes. */
function cutGaps({ values, changes }: GeneratedSeries, gaps: number, draw: () => number): GeneratedSeries {
  const missing = new Set<number>();
  for (let gap = 0; gap < gaps; gap++) {
    const from = Math.floor(MARGIN + draw() * (values.length - 3 * MARGIN));
    const points = 10 + Math.floor(draw() * 21);
    for (let at = from; at < from + points; at++) missing.add(at);
  }
  const move = (index: number) => index - [...missing].filter((at) => at < index).length;
  return {
    values: values.filter((_, at) => !missing.has(at)),
    changes: changes.map(({ index, lastIndex }) => ({ index: move(index), lastIndex: move(lastIndex) })),
  };
}

/** Uniform in (0, 1). */
function drawUniform(seed: number): () => number {
  let counter = 0;
  return () => {
    const [high, low] = philox4x32([counter++, 0, 0, 0], [seed, 0]);
    return ((high >>> 5) * 2 ** 26 + (low >>> 6) + 0.5) / 2 ** 53;
  };
}

function normal(draw: () => number): number {
  return normalQuantile(draw());
}

/** Student's t with three degrees of freedom. */
function heavy(draw: () => number): number {
  const squares = normal(draw) ** 2 + normal(draw) ** 2 + normal(draw) ** 2;
  return normal(draw) / Math.sqrt(squares / 3);
}
