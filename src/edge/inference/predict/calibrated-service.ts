import type { Placement, SweepStep } from "../../../protocol/models/model.ts";
import { decodeSketch, scaleSketch, type Sketch, sketchQuantile } from "../../../stats/distribution/sketch.ts";

/** Batch sizes that the calibration measured, rising; at least one. */
type Sweep = readonly SweepStep[];

/** The largest measured batch that the configuration allows; more rows count as several batches. */
export function largestRows({ sweep, configuration }: Pick<Placement, "sweep" | "configuration">): number {
  return Math.min(measuredRows(sweep), configuration.maxRows ?? Number.POSITIVE_INFINITY);
}

function measuredRows(sweep: Sweep): number {
  return sweep.at(-1)?.rows ?? 1;
}

/**
 * The calibrated median of a batch, in milliseconds: interpolated linearly between two measured sizes, proportional
 * beyond the largest.
 */
export function calibratedMedianMs(sweep: Sweep, rows: number): number {
  const above = sweep.findIndex((step) => step.rows >= rows);
  const upper = sweep[above];
  const lower = sweep[above - 1];
  if (upper === undefined) return ((sweep.at(-1)?.serviceMs.p50 ?? 0) * rows) / measuredRows(sweep);
  if (lower === undefined || upper.rows === rows) return upper.serviceMs.p50;
  const share = (rows - lower.rows) / (upper.rows - lower.rows);
  return lower.serviceMs.p50 + share * (upper.serviceMs.p50 - lower.serviceMs.p50);
}

const sketches = new WeakMap<Sweep, Map<number, Sketch>>();

/** The calibrated distribution of a batch: that of the next measured size, scaled to the batch's median. */
export function calibratedSketch(sweep: Sweep, rows: number): Sketch {
  const known = sketches.get(sweep) ?? new Map<number, Sketch>();
  sketches.set(sweep, known);
  const cached = known.get(rows);
  if (cached !== undefined) return cached;
  const step = sweep.find((each) => each.rows >= rows) ?? sweep.at(-1);
  if (step === undefined) throw new RangeError("a placement without a measurement");
  const measured = decodeSketch(step.serviceMs.sketch);
  const factor = calibratedMedianMs(sweep, rows) / step.serviceMs.p50;
  const sketch = Number.isFinite(factor) && factor > 0 ? scaleSketch(measured, factor) : measured;
  known.set(rows, sketch);
  return sketch;
}

const links = new WeakMap<Placement["linkMs"], Sketch>();

/** The calibrated distribution of the link. */
export function calibratedLink(linkMs: Placement["linkMs"]): Sketch {
  const known = links.get(linkMs) ?? decodeSketch(linkMs.sketch);
  links.set(linkMs, known);
  return known;
}

/** Limit of cached quantiles, since callers choose their confidences. */
const KEPT_CONFIDENCES = 32;
const quantiles = new WeakMap<Sketch, Map<number, number>>();

/** A quantile of a calibrated distribution; cached, since the distribution never changes. */
export function calibratedQuantile(sketch: Sketch, confidence: number): number {
  const known = quantiles.get(sketch) ?? new Map<number, number>();
  quantiles.set(sketch, known);
  const cached = known.get(confidence);
  if (cached !== undefined) return cached;
  const value = sketchQuantile(sketch, confidence);
  if (known.size >= KEPT_CONFIDENCES) known.clear();
  known.set(confidence, value);
  return value;
}

/** The service on an idle machine, by the calibration, at this confidence. */
export function calibratedServiceMs({ sweep }: Placement, rows: number, confidence: number): number {
  return calibratedQuantile(calibratedSketch(sweep, rows), confidence);
}

/** Link and service together. */
export function calibratedLatencyMs(placement: Placement, rows: number, confidence: number): number {
  const linkMs = calibratedQuantile(calibratedLink(placement.linkMs), confidence);
  return linkMs + calibratedServiceMs(placement, rows, confidence);
}
