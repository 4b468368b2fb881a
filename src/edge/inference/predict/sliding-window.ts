import { blendedQuantile } from "../../../stats/distribution/read-sketch.ts";
import { addToSketch, createSketch, type Sketch } from "../../../stats/distribution/sketch.ts";

/**
 * Recent samples of one duration: a sketch in which a sample loses half its weight every `halfLifeMs`, by forward
 * decay.
 * Instead of reducing old weights, later samples get larger ones, so that a sample costs one addition.
 * Source: Cormode, Shkapenyuk, Srivastava and Xu, ICDE 2009.
 */
export interface SlidingWindow {
  readonly halfLifeMs: number;
  /** Its counts are weights; a sample at `originMs` has weight 1. */
  sketch: Sketch;
  originMs: number;
  /** Quantiles of the last readings. */
  readonly read: Map<number, { readonly prior: Sketch | null; readonly atMs: number; readonly valueMs: number }>;
}

/** Number of half-lives after which weights start at 1 again, before they exceed a double's precision. */
const REBASED_HALVINGS = 20;
/** Buckets below this weight are dropped. */
const NEGLIGIBLE = 1e-3;
/** Largest age of a cached quantile: to merge sketches for each request would cost too much. */
const FRESH_MS = 50;
const READ_CONFIDENCES = 32;
const NOTHING = { sketch: createSketch(), weight: 0 };

export function createWindow(halfLifeMs: number): SlidingWindow {
  return { halfLifeMs, sketch: createSketch(), originMs: 0, read: new Map() };
}

export function noteSample(window: SlidingWindow, durationMs: number, nowMs: number): void {
  if (nowMs - window.originMs > REBASED_HALVINGS * window.halfLifeMs) rebase(window, nowMs);
  addToSketch(window.sketch, Math.max(0, durationMs), 1 / decayOf(window, nowMs));
}

/** Reduces the weight of all samples so far by this share. */
export function fadeWindow(window: SlidingWindow, share: number): void {
  window.originMs += window.halfLifeMs * Math.log2(1 - share);
}

/**
 * The duration that is not exceeded with this confidence.
 * `prior` is a measurement in advance that counts as 1/(1 − confidence) samples, the number that shows the quantile at
 * all. So one outlier decides nothing, and without samples the window returns to the prior.
 * Without a prior only the samples count; NaN where there is neither.
 */
export function windowQuantile(window: SlidingWindow, prior: Sketch | null, confidence: number, nowMs: number): number {
  const known = window.read.get(confidence);
  if (known !== undefined && known.prior === prior && Math.abs(nowMs - known.atMs) < FRESH_MS) return known.valueMs;
  const valueMs = blendedQuantile(
    prior === null ? NOTHING : { sketch: prior, weight: 1 / ((1 - confidence) * prior.count) },
    { sketch: window.sketch, weight: decayOf(window, nowMs) },
    confidence,
  );
  if (window.read.size >= READ_CONFIDENCES) window.read.clear();
  window.read.set(confidence, { prior, atMs: nowMs, valueMs });
  return valueMs;
}

/** Present value of one unit of the sketch's weight. */
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

/** Recent times of one duration in two windows: the short one follows changes, the long one contains rare values. */
export interface RecentTimes {
  readonly short: SlidingWindow;
  readonly long: SlidingWindow;
}

const SHORT_HALF_LIFE_MS = 3_000;
const LONG_HALF_LIFE_MS = 60_000;
/** Confidence from which on a few seconds hold too few samples. */
const RARE = 0.95;

export function createTimes(): RecentTimes {
  return { short: createWindow(SHORT_HALF_LIFE_MS), long: createWindow(LONG_HALF_LIFE_MS) };
}

export function noteTime({ short, long }: RecentTimes, durationMs: number, nowMs: number): void {
  noteSample(short, durationMs, nowMs);
  noteSample(long, durationMs, nowMs);
}

/**
 * The duration that samples alone show with this confidence; infinite where they weigh too little to show it.
 * The same window decides as with a prior.
 */
export function shownQuantile({ short, long }: RecentTimes, confidence: number, nowMs: number): number {
  const window = confidence < RARE ? short : long;
  const weight = window.sketch.count * decayOf(window, nowMs);
  return weight < 1 / (1 - confidence) ? Infinity : windowQuantile(window, null, confidence, nowMs);
}

/** Reduces the weight of all samples by a share. */
export function fadeTimes({ short, long }: RecentTimes, share: number): void {
  fadeWindow(short, share);
  fadeWindow(long, share);
}

/**
 * The duration that is not exceeded with this confidence, starting from `prior`.
 * From 0.95 on the long window decides. A short pause holds up all requests under way: more than 1% of the last
 * seconds, but less than 1% of the last minute unless it recurs. A lasting slowdown soon exceeds that share of both
 * windows.
 * Below 0.95 the short window decides, since the long one needs half a minute to follow.
 */
export function timeQuantile({ short, long }: RecentTimes, prior: Sketch, confidence: number, nowMs: number): number {
  return windowQuantile(confidence < RARE ? short : long, prior, confidence, nowMs);
}
