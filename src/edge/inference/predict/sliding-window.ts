import { blendedQuantile } from "../../../stats/distribution/read-sketch.ts";
import { addToSketch, createSketch, type Sketch, sketchQuantile } from "../../../stats/distribution/sketch.ts";

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
function fadeWindow(window: SlidingWindow, share: number): void {
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

/** One duration as it was lately, seen twice: a short window follows what changed, a long one knows what is rare. */
export interface RecentTimes {
  readonly short: SlidingWindow;
  readonly long: SlidingWindow;
}

const SHORT_HALF_LIFE_MS = 3_000;
const LONG_HALF_LIFE_MS = 60_000;
/** From this confidence on a few seconds do not hold enough to tell. */
const RARE = 0.95;

export function createTimes(): RecentTimes {
  return { short: createWindow(SHORT_HALF_LIFE_MS), long: createWindow(LONG_HALF_LIFE_MS) };
}

export function noteTime({ short, long }: RecentTimes, durationMs: number, nowMs: number): void {
  noteSample(short, durationMs, nowMs);
  noteSample(long, durationMs, nowMs);
}

/** Takes a share of the weight of everything that was seen. */
export function fadeTimes({ short, long }: RecentTimes, share: number): void {
  fadeWindow(short, share);
  fadeWindow(long, share);
}

/**
 * The duration that is not exceeded with this confidence, from `prior` on. From 0.95 on the long window
 * tells: a pause of a moment holds up all requests that are under way, which is more than one in a hundred of
 * the last seconds and less than that of the last minute, unless it comes again; and what has become slower
 * is soon more than that of either. Below, the short one does, since half of a minute is long to wait for.
 */
export function timeQuantile({ short, long }: RecentTimes, prior: Sketch, confidence: number, nowMs: number): number {
  return windowQuantile(confidence < RARE ? short : long, prior, confidence, nowMs);
}
