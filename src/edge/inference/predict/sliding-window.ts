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
  // The clock was set back: later samples would weigh nothing until it is there again.
  if (nowMs < window.originMs - window.halfLifeMs) {
    window.sketch = createSketch();
    window.originMs = nowMs;
  }
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

/** The latest samples of one duration. */
interface LatestSamples {
  /** A ring, once it is full. */
  readonly values: number[];
  /** Samples so far. */
  seen: number;
  atMs: number;
  /** Quantiles of the last readings, with the number of samples then. */
  readonly read: Map<number, { readonly seen: number; readonly valueMs: number }>;
}

/** Twice as many as show a p99: of them one slow sample alone does not decide. */
const LATEST = 200;
/** A quantile is read again after so many further samples, or a twentieth of them: sorting takes longer than all else. */
const LATEST_FRESH_FOR = 10;
/** Samples from before a rest of this length show nothing of the time after it. */
const REST_MS = 60_000;

function noteLatest(latest: LatestSamples, durationMs: number, nowMs: number): void {
  if (Math.abs(nowMs - latest.atMs) > REST_MS) {
    latest.values.length = 0;
    latest.seen = 0;
    latest.read.clear();
  }
  latest.values[latest.seen % LATEST] = durationMs;
  latest.seen++;
  latest.atMs = nowMs;
}

/** Infinite where the samples are too few to show it, or too old. */
function latestQuantile({ values, seen, atMs, read }: LatestSamples, confidence: number, nowMs: number): number {
  if (values.length < 1 / (1 - confidence) || Math.abs(nowMs - atMs) > REST_MS) return Infinity;
  const known = read.get(confidence);
  if (known !== undefined && seen - known.seen < Math.min(LATEST_FRESH_FOR, values.length / 20)) return known.valueMs;
  const valueMs = Float64Array.from(values).toSorted()[Math.floor(confidence * values.length)]!;
  if (read.size >= READ_CONFIDENCES) read.clear();
  read.set(confidence, { seen, valueMs });
  return valueMs;
}

/**
 * Recent times of one duration in two windows: the short one follows changes, the long one contains rare values. The
 * latest samples follow changes of rare values, too.
 */
export interface RecentTimes {
  readonly short: SlidingWindow;
  readonly long: SlidingWindow;
  readonly latest: LatestSamples;
  /** By confidence, of those that are judged. */
  readonly contests: Map<number, Contest>;
}

/** Two forecasts of one quantile, by the long window and by the latest samples, and the losses of those before. */
interface Contest {
  longMs: number;
  latestMs: number;
  longLoss: number;
  latestLoss: number;
  atMs: number;
  /** Further samples by which these forecasts are judged: older ones are not those that would be made now. */
  left: number;
}

const SHORT_HALF_LIFE_MS = 3_000;
const LONG_HALF_LIFE_MS = 60_000;
/** Confidence from which on a few seconds hold too few samples. */
const RARE = 0.95;
/** Confidences whose forecasts are judged, for all up to each: a judgement costs every sample a little. */
const JUDGED = [RARE, 0.98, 0.99, 0.995];
/** Even chances: a median needs no rare values. */
const EVEN = 0.5;

export function createTimes(): RecentTimes {
  return {
    short: createWindow(SHORT_HALF_LIFE_MS),
    long: createWindow(LONG_HALF_LIFE_MS),
    latest: { values: [], seen: 0, atMs: 0, read: new Map() },
    contests: new Map(),
  };
}

export function noteTime({ short, long, latest, contests }: RecentTimes, takenMs: number, nowMs: number): void {
  const durationMs = Math.max(0, takenMs);
  if (Math.abs(nowMs - latest.atMs) > REST_MS) contests.clear();
  for (const [confidence, contest] of contests) {
    if (contest.left === 0) continue;
    const decay = Math.min(1, 2 ** ((contest.atMs - nowMs) / LONG_HALF_LIFE_MS));
    contest.longLoss = contest.longLoss * decay + lossOf(contest.longMs, durationMs, confidence);
    contest.latestLoss = contest.latestLoss * decay + lossOf(contest.latestMs, durationMs, confidence);
    contest.atMs = nowMs;
    contest.left--;
  }
  noteSample(short, durationMs, nowMs);
  noteSample(long, durationMs, nowMs);
  noteLatest(latest, durationMs, nowMs);
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
 * The duration that samples alone show with this confidence; infinite where the window's weigh too little to show it.
 * The same samples decide as with a prior.
 */
export function shownQuantile(times: RecentTimes, confidence: number, nowMs: number): number {
  return decide(times, confidence, nowMs, (window, asked) => {
    const weight = window.sketch.count * decayOf(window, nowMs);
    return weight < 1 / (1 - asked) ? Infinity : windowQuantile(window, null, asked, nowMs);
  });
}

/** Reduces the weight of all samples by a share; not of the latest ones, which can only lower a forecast. */
export function fadeTimes({ short, long }: RecentTimes, share: number): void {
  fadeWindow(short, share);
  fadeWindow(long, share);
}

/** The duration that is not exceeded with this confidence, starting from `prior`. The same samples decide as without. */
export function timeQuantile(times: RecentTimes, prior: Sketch, confidence: number, nowMs: number): number {
  return decide(times, confidence, nowMs, (window, asked) => windowQuantile(window, prior, asked, nowMs));
}

type ReadWindow = (window: SlidingWindow, confidence: number) => number;

/**
 * From 0.95 on the long window decides. A short pause holds up all requests under way: more than 1% of the last
 * seconds, but less than 1% of the last minute unless it recurs. A lasting slowdown soon exceeds that share of both
 * windows. The latest samples decide in its place where they show less and were the better forecast of late: a slowdown
 * ends with them. They forget pauses that come again, and then lose at each of them.
 * Below 0.95 the short window decides, since the long one needs half a minute to follow; and the 0.95 quantile of the
 * latest samples, where these decide that one and it is less.
 */
function decide(times: RecentTimes, confidence: number, nowMs: number, read: ReadWindow): number {
  if (confidence >= RARE) return betterForecast(times, confidence, nowMs, read);
  const shortMs = read(times.short, confidence);
  if (confidence <= EVEN) return shortMs;
  const rareMs = betterForecast(times, RARE, nowMs, read);
  return rareMs < read(times.long, RARE) ? Math.min(shortMs, rareMs) : shortMs;
}

function betterForecast(times: RecentTimes, confidence: number, nowMs: number, read: ReadWindow): number {
  const longMs = read(times.long, confidence);
  const judged = JUDGED.find((each) => each >= confidence);
  if (longMs === Infinity || judged === undefined) return longMs;
  judgeNext(times, judged, judged === confidence ? longMs : read(times.long, judged), nowMs);
  const isBetter = JUDGED.some((each) => {
    const contest = times.contests.get(each);
    return each >= confidence && contest !== undefined && contest.latestLoss < contest.longLoss;
  });
  return isBetter ? Math.min(longMs, latestQuantile(times.latest, confidence, nowMs)) : longMs;
}

/** Both forecasts at a confidence, for the next samples to judge. */
function judgeNext({ latest, contests }: RecentTimes, confidence: number, longMs: number, nowMs: number): void {
  if (longMs === Infinity) return;
  const latestMs = Math.min(longMs, latestQuantile(latest, confidence, nowMs));
  const contest = contests.get(confidence) ?? { longLoss: 0, latestLoss: 0, atMs: nowMs };
  contests.set(confidence, { ...contest, longMs, latestMs, left: LATEST_FRESH_FOR });
}
