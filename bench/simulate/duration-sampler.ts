import type { SweepStep } from "../../src/protocol/models/model.ts";
import { type Distribution, summarise } from "../../src/stats/distribution/distribution.ts";
import { decodeSketch, type Sketch, sketchQuantiles } from "../../src/stats/distribution/sketch.ts";
import { calibratedSketch } from "../../src/edge/inference/predict/calibrated-service.ts";

/** A duration for a uniform number in [0, 1). */
export type DurationSampler = (uniform: number) => number;

/** Number of quantiles: a sketch's relative error makes more of them pointless. */
const STEPS = 1_000;
const MIDDLES = Array.from({ length: STEPS }, (_, step) => (step + 0.5) / STEPS);

/** Draws measured durations by inverse transform sampling: through the quantiles of their sketch. */
export function durationSampler(sketch: Sketch): DurationSampler {
  const quantiles = Float64Array.from(sketchQuantiles(sketch, MIDDLES));
  return (uniform) => quantiles[Math.floor(uniform * STEPS)]!;
}

export function sampleDistribution({ sketch }: Distribution): DurationSampler {
  return durationSampler(decodeSketch(sketch));
}

/** A distribution with every duration changed by `change`. */
export function mapDistribution({ sketch }: Distribution, change: (durationMs: number) => number): Distribution {
  return summarise(sketchQuantiles(decodeSketch(sketch), MIDDLES).map(change));
}

/** Draws the service time of a batch by its rows, as the edge reads a calibration. */
export function serviceSampler(sweep: readonly SweepStep[]): (rows: number) => DurationSampler {
  const byRows: DurationSampler[] = [];
  return (rows) => (byRows[rows] ??= durationSampler(calibratedSketch(sweep, rows)));
}
