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

/** The latest samples of one duration, however long ago they came. */
interface LatestSamples {
  /** A ring. */
  readonly values: Float32Array;
  /** Samples so far. */
  seen: number;
  /** Quantiles of the last readings, with the number of samples then. */
  readonly read: Map<number, { readonly at: number; readonly valueMs: number }>;
}

/** Twice as many as show a p99, so that one pause alone does not decide. */
const LATEST = 200;
/** A quantile is read again after so many further samples: sorting takes longer than all else. */
const LATEST_FRESH_FOR = 10;

function createLatest(): LatestSamples {
  return { values: new Float32Array(LATEST), seen: 0, read: new Map() };
}

function noteLatest(latest: LatestSamples, durationMs: number): void {
  latest.values[latest.seen++ % LATEST] = durationMs;
}

/** Infinite where the samples are too few to show it. */
function latestQuantile({ values, seen, read }: LatestSamples, confidence: number): number {
  const kept = Math.min(seen, LATEST);
  if (kept < 1 / (1 - confidence)) return Infinity;
  const known = read.get(confidence);
  if (known !== undefined && seen - known.at < LATEST_FRESH_FOR) return known.valueMs;
  const valueMs = values.subarray(0, kept).toSorted()[Math.floor(confidence * kept)]!;
  if (read.size >= READ_CONFIDENCES) read.clear();
  read.set(confidence, { at: seen, valueMs });
  return valueMs;
}

/**
 * Recent times of one duration in two windows: the short one follows changes, the long one contains rare values. The
 * latest samples follow changes in rare values, too.
 */
export interface RecentTimes {
  readonly short: SlidingWindow;
  readonly long: SlidingWindow;
  readonly latest: LatestSamples;
  /** By confidence. */
  readonly contests: Map<number, Contest>;
}

/** The last quantiles of the long window and of the latest samples, and how far those before were off. */
interface Contest {
  longMs: number;
  latestMs: number;
  longLoss: number;
  latestLoss: number;
  atMs: number;
}

const SHORT_HALF_LIFE_MS = 3_000;
const LONG_HALF_LIFE_MS = 60_000;
/** Confidence from which on a few seconds hold too few samples. */
const RARE = 0.95;

export function createTimes(): RecentTimes {
  return {
    short: createWindow(SHORT_HALF_LIFE_MS),
    long: createWindow(LONG_HALF_LIFE_MS),
    latest: createLatest(),
    contests: new Map(),
  };
}

export function noteTime({ short, long, latest, contests }: RecentTimes, durationMs: number, nowMs: number): void {
  for (const [confidence, contest] of contests) {
    const decay = 2 ** ((contest.atMs - nowMs) / LONG_HALF_LIFE_MS);
    contest.longLoss = contest.longLoss * decay + lossOf(contest.longMs, durationMs, confidence);
    contest.latestLoss = contest.latestLoss * decay + lossOf(contest.latestMs, durationMs, confidence);
    contest.atMs = nowMs;
  }
  noteSample(short, durationMs, nowMs);
  noteSample(long, durationMs, nowMs);
  noteLatest(latest, durationMs);
}

/**
 * Loss of a quantile's forecast by what came: its mean is least for the true quantile.
 * Source: Koenker and Bassett, Regression Quantiles, Econometrica 1978.
 */
function lossOf(forecastMs: number, durationMs: number, confidence: number): number {
  return durationMs > forecastMs
    ? (durationMs - forecastMs) * confidence
    : (forecastMs - durationMs) * (1 - confidence);
}

/**
 * The duration that samples alone show with this confidence; infinite where they weigh too little to show it.
 * The same samples decide as with a prior.
 */
export function shownQuantile(times: RecentTimes, confidence: number, nowMs: number): number {
  const window = confidence < RARE ? times.short : times.long;
  const weight = window.sketch.count * decayOf(window, nowMs);
  const shownMs = weight < 1 / (1 - confidence) ? Infinity : windowQuantile(window, null, confidence, nowMs);
  return confidence < RARE ? shownMs : betterQuantile(times, shownMs, confidence, nowMs);
}

/** Reduces the weight of all samples by a share. The latest ones stay, which count only where they show less. */
export function fadeTimes({ short, long }: RecentTimes, share: number): void {
  fadeWindow(short, share);
  fadeWindow(long, share);
}

/**
 * The duration that is not exceeded with this confidence, starting from `prior`.
 * From 0.95 on the long window decides. A short pause holds up all requests under way: more than 1% of the last
 * seconds, but less than 1% of the last minute unless it recurs. A lasting slowdown soon exceeds that share of both
 * windows. The latest samples decide where they show less and were right: a slowdown that is over ends with them.
 * Below 0.95 the short window decides, since the long one needs half a minute to follow.
 */
export function timeQuantile(times: RecentTimes, prior: Sketch, confidence: number, nowMs: number): number {
  if (confidence < RARE) return windowQuantile(times.short, prior, confidence, nowMs);
  return betterQuantile(times, windowQuantile(times.long, prior, confidence, nowMs), confidence, nowMs);
}

/**
 * The quantile of the long window, or of the latest samples where that is less and lost no more of late. Pauses that come
 * again are forgotten by the latest samples, which then lose each time.
 */
function betterQuantile({ latest, contests }: RecentTimes, shownMs: number, confidence: number, nowMs: number): number {
  const ofLatestMs = latestQuantile(latest, confidence);
  if (ofLatestMs === Infinity) return shownMs;
  const latestMs = Math.min(shownMs, ofLatestMs);
  const longMs = shownMs === Infinity ? latestMs : shownMs;
  const contest = contests.get(confidence);
  if (contest === undefined) {
    if (contests.size >= READ_CONFIDENCES) contests.clear();
    contests.set(confidence, { longMs, latestMs, longLoss: 0, latestLoss: 0, atMs: nowMs });
    return latestMs;
  }
  contest.longMs = longMs;
  contest.latestMs = latestMs;
  return contest.latestLoss <= contest.longLoss ? latestMs : longMs;
}
