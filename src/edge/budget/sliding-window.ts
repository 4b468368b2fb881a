import { blendedQuantile } from "../../stats/blended-quantile.ts";
import { addToSketch, createSketch, type Sketch, sketchQuantile } from "../../stats/sketch.ts";

/**
 * What was seen lately of one duration: a sketch in which a sample counts for half as much every
 * `halfLifeMs`, by forward decay (Cormode, Shkapenyuk, Srivastava and Xu, ICDE 2009): instead of the old
 * samples losing weight, later ones get more, so that a sample costs one addition.
 */
export interface SlidingWindow {
  readonly halfLifeMs: number;
  /** Its counts are weights; a sample of `originMs` has one of 1. */
  sketch: Sketch;
  originMs: number;
  /** Quantiles as they were last read. */
  readonly read: Map<number, { readonly prior: Sketch | null; readonly atMs: number; readonly valueMs: number }>;
}

/** Halvings after which weights begin at 1 again, before they outgrow a double's precision. */
const REBASED_HALVINGS = 20;
/** What counts for less than this of a sample is dropped. */
const NEGLIGIBLE = 1e-3;
/** How old a quantile may be: merging sketches for each request would cost more than one may. */
const FRESH_MS = 50;
const READ_CONFIDENCES = 32;

export function createWindow(halfLifeMs: number): SlidingWindow {
  return { halfLifeMs, sketch: createSketch(), originMs: 0, read: new Map() };
}

export function noteSample(window: SlidingWindow, durationMs: number, nowMs: number): void {
  if (nowMs - window.originMs > REBASED_HALVINGS * window.halfLifeMs) rebase(window, nowMs);
  addToSketch(window.sketch, Math.max(0, durationMs), 1 / decayOf(window, nowMs));
}

/** Takes this share of what all samples until now weigh away from them. */
export function fadeWindow(window: SlidingWindow, share: number): void {
  window.originMs += window.halfLifeMs * Math.log2(1 - share);
}

/**
 * The duration that is not exceeded with this confidence. `prior` is what was measured beforehand: it
 * counts as 1/(1 − confidence) samples, as many as it takes to see the quantile at all, so that one
 * outlier alone decides nothing, and without further samples the window goes back to it. Without a
 * prior the samples alone tell; NaN where there is neither.
 */
export function windowQuantile(window: SlidingWindow, prior: Sketch | null, confidence: number, nowMs: number): number {
  const known = window.read.get(confidence);
  if (known !== undefined && known.prior === prior && Math.abs(nowMs - known.atMs) < FRESH_MS) return known.valueMs;
  const valueMs =
    prior === null
      ? sketchQuantile(window.sketch, confidence)
      : blendedQuantile(
          { sketch: prior, weight: 1 / ((1 - confidence) * prior.count) },
          { sketch: window.sketch, weight: decayOf(window, nowMs) },
          confidence,
        );
  if (window.read.size >= READ_CONFIDENCES) window.read.clear();
  window.read.set(confidence, { prior, atMs: nowMs, valueMs });
  return valueMs;
}

/** What a weight of the sketch counts for now. */
function decayOf({ originMs, halfLifeMs }: SlidingWindow, nowMs: number): number {
  return 2 ** ((originMs - nowMs) / halfLifeMs);
}

function rebase(window: SlidingWindow, nowMs: number): void {
  const decay = decayOf(window, nowMs);
  const kept = createSketch();
  kept.zeros = window.sketch.zeros * decay;
  kept.count = kept.zeros;
  for (const [index, weight] of window.sketch.positive) {
    if (weight * decay < NEGLIGIBLE) continue;
    kept.positive.set(index, weight * decay);
    kept.count += weight * decay;
  }
  window.sketch = kept;
  window.originMs = nowMs;
}
