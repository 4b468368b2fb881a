import { LIMITS } from "../../../protocol/wire/limits.ts";

/** Confidences of the known times; one between two of them counts as the higher. */
const CONFIDENCES = [0, 0.5, 0.75, 0.9, 0.95, 0.98, 0.99, 0.995, 0.999] as const;

/** Index of a confidence in that list. */
export type Level = number;

/** Level of a confidence, rounded up. */
export function levelOf(confidence: number): Level {
  const level = CONFIDENCES.findIndex((known) => known >= confidence);
  return level < 0 ? CONFIDENCES.length - 1 : level;
}

/** Level of even chances. */
export const EVEN: Level = levelOf(0.5);
/** Level of near certainty. */
export const SURE: Level = levelOf(0.99);

/** Number of batches of a size in the mean that is expected. */
export const RECENT_SAMPLES = 32;
/** Number of samples of a size, and their age limit. */
const KEPT_SAMPLES = 512;
const LIFETIME_MS = 60_000;
/** Least samples of a size; one that ran less often keeps older ones. */
const FEWEST_SAMPLES = 16;
/** Samples from which a size is known: before that a single hiccup would dominate. */
const KNOWN_FROM = 4;
/** Share of new samples of a size from which times are computed again. */
const STALE_SHARE = 1 / 16;
/**
 * Relative cost of a row above the least at which a size is chosen, and at which it is kept: noise must not move it.
 */
const CHOSEN_COST = 1.03;
const KEPT_COST = 1.05;
/** Confidence up to which the last few samples count too. */
const RECENT_CONFIDENCE = 0.9;

/** Batches of one octave of rows, (2^(n-1), 2^n]: rows and durations, oldest first, and their statistics. */
interface Size {
  readonly octave: number;
  readonly rows: number[];
  readonly durationsMs: number[];
  readonly atMs: number[];
  unread: number;
  read: { readonly rows: number; readonly expectedMs: number; readonly quantilesMs: readonly number[] };
}

/**
 * Recent times of batches of one kind, by size. A quantile of a size is the nearest rank of its last minute, or, up to
 * nine tenths, that of its last few batches where they are slower: so a drift shows within as many batches. Between two
 * sizes times are interpolated linearly; outside of them they are extrapolated from the nearest two.
 */
export class ServiceTimes {
  /** By octave, ascending. */
  #sizes: Size[] = [];
  /** Times by rows, first the expected ones, then each level's; NaN is not computed yet. */
  readonly #curves = new Float64Array((LIMITS.batchRows + 1) * (CONFIDENCES.length + 1)).fill(Number.NaN);
  #maxRows = 1;
  /** Octave in which a row is cheap enough. */
  #cheapOctave = 0;
  #notedAtMs = Number.NEGATIVE_INFINITY;

  /** End of the last batch; -∞ before the first. */
  get notedAtMs(): number {
    return this.#notedAtMs;
  }

  /**
   * Largest batch to form: twice the largest so far, until a row costs no less in a larger one; then the smallest in
   * which it costs next to the least. A larger one only delays the next ones.
   */
  get maxRows(): number {
    return this.#maxRows;
  }

  /** Rows up to which enough batches ran; 0 before that. */
  get measuredRows(): number {
    const largest = this.#sizes.findLast((size) => size.rows.length >= KNOWN_FROM);
    return largest === undefined ? 0 : 2 ** largest.octave;
  }

  note(rows: number, durationMs: number, nowMs: number): void {
    const size = this.#keep(rows, durationMs, nowMs);
    if (size.unread >= STALE_SHARE * size.rows.length) this.#readAll(size, nowMs);
  }

  #keep(rows: number, durationMs: number, nowMs: number): Size {
    this.#notedAtMs = nowMs;
    const size = this.#sizeOf(rows);
    size.rows.push(rows);
    size.durationsMs.push(durationMs);
    size.atMs.push(nowMs);
    if (size.rows.length > KEPT_SAMPLES) for (const list of [size.rows, size.durationsMs, size.atMs]) list.shift();
    size.unread++;
    return size;
  }

  #readAll(size: Size, nowMs: number): void {
    // Old samples are dropped from all sizes: one that is no longer formed would keep its spikes.
    for (const each of this.#sizes) each.read = readSize(each, nowMs);
    size.unread = 0;
    this.#curves.fill(Number.NaN);
    this.#maxRows = this.#findMaxRows();
  }

  /**
   * Notes the batch of a trial, which stands for all requests that were refused meanwhile: half of the older samples
   * go, but of its own size as many stay as make it known with this one. So some trials suffice to show that a device is
   * fast again.
   */
  noteTrial(rows: number, durationMs: number, nowMs: number): void {
    const own = this.#sizeOf(rows);
    for (const size of this.#sizes) {
      const most = size === own ? Math.max(0, size.rows.length - KNOWN_FROM + 1) : size.rows.length;
      const gone = Math.min(most, Math.ceil(size.rows.length / 2));
      for (const list of [size.rows, size.durationsMs, size.atMs]) list.splice(0, gone);
    }
    this.#sizes = this.#sizes.filter((size) => size === own || size.rows.length > 0);
    this.#readAll(this.#keep(rows, durationMs, nowMs), nowMs);
  }

  /** Usual time of a batch, without the slowest of the last ones; 0 without samples. */
  expectedMs(rows: number): number {
    return this.#time(rows, 0);
  }

  /** Duration that a batch stays under at this level; 0 without samples. */
  quantileMs(rows: number, level: Level): number {
    return this.#time(rows, level + 1);
  }

  #time(rows: number, curve: number): number {
    if (rows > LIMITS.batchRows) return this.#interpolate(rows, curve);
    const place = curve * (LIMITS.batchRows + 1) + rows;
    const read = this.#curves[place]!;
    return Number.isNaN(read) ? (this.#curves[place] = this.#interpolate(rows, curve)) : read;
  }

  #interpolate(rows: number, curve: number): number {
    const known = this.#known();
    const [only] = known;
    if (only === undefined) return 0;
    // With one size alone, time is assumed proportional: the fixed part is unknown.
    if (known.length === 1) return timeOf(only, curve) * Math.max(1, rows / only.read.rows);
    const above = known.findIndex(({ read }) => read.rows >= rows);
    const right = above < 0 ? known.length - 1 : Math.max(1, above);
    const [left, { read }] = [known[right - 1]!, known[right]!];
    const [leftMs, rightMs] = [timeOf(left, curve), timeOf(known[right]!, curve)];
    // Noise may make a larger batch look faster; that is ignored.
    const slope = Math.max(0, rightMs - leftMs) / (read.rows - left.read.rows);
    // A smaller one cannot cost less than its share either.
    return Math.max(leftMs + slope * (rows - left.read.rows), leftMs * Math.min(1, rows / left.read.rows));
  }

  #known(): readonly Size[] {
    const known = this.#sizes.filter((size) => size.rows.length >= KNOWN_FROM);
    return known.length > 0 ? known : this.#sizes;
  }

  #findMaxRows(): number {
    const known = this.#known();
    const costs = known.map(({ read }) => read.expectedMs / read.rows);
    const least = Math.min(...costs);
    const chosen = known[costs.findIndex((cost) => cost <= least * CHOSEN_COST)]!.octave;
    const kept = known.findIndex(({ octave }) => octave === this.#cheapOctave);
    if (chosen < this.#cheapOctave || !(costs[kept]! <= least * KEPT_COST)) this.#cheapOctave = chosen;
    const largest = known.at(-1)!;
    const isLargest = this.#cheapOctave === largest.octave;
    return Math.min(LIMITS.batchRows, isLargest ? 2 * Math.round(largest.read.rows) : 2 ** this.#cheapOctave);
  }

  #sizeOf(rows: number): Size {
    const octave = rows <= 1 ? 0 : 32 - Math.clz32(rows - 1);
    const found = this.#sizes.find((size) => size.octave === octave);
    if (found !== undefined) return found;
    const read = { rows, expectedMs: 0, quantilesMs: [] };
    const size: Size = { octave, rows: [], durationsMs: [], atMs: [], unread: 0, read };
    this.#sizes = [...this.#sizes, size].toSorted((a, b) => a.octave - b.octave);
    return size;
  }
}

function timeOf({ read }: Size, curve: number): number {
  return curve === 0 ? read.expectedMs : read.quantilesMs[curve - 1]!;
}

function readSize({ rows, durationsMs, atMs }: Size, nowMs: number): Size["read"] {
  const oldestMs = nowMs - LIFETIME_MS;
  const stale = atMs.findLastIndex((each) => each < oldestMs) + 1;
  const sorted = sort(durationsMs.slice(Math.max(0, Math.min(durationsMs.length - FEWEST_SAMPLES, stale))));
  const lately = durationsMs.slice(-RECENT_SAMPLES);
  const recent = sort(lately);
  const quantilesMs = CONFIDENCES.map((confidence) =>
    Math.max(nearestRank(sorted, confidence), nearestRank(recent, Math.min(confidence, RECENT_CONFIDENCE))),
  );
  const slowest = lately.length > 1 ? lately.indexOf(recent.at(-1)!) : -1;
  const expectedMs = meanBut(lately, slowest);
  return { rows: meanBut(rows.slice(-RECENT_SAMPLES), slowest), expectedMs, quantilesMs };
}

function sort(values: readonly number[]): Float64Array {
  return Float64Array.from(values).toSorted();
}

/** Below 100 samples the second slowest is the 0.99 quantile: one spike is no tail. */
function nearestRank(sorted: Float64Array, confidence: number): number {
  return sorted[Math.floor((sorted.length - 1) * confidence)]!;
}

/** Mean of all values but the one at this index. */
function meanBut(values: readonly number[], left: number): number {
  let sum = 0;
  for (const value of values) sum += value;
  return left < 0 ? sum / values.length : (sum - values[left]!) / (values.length - 1);
}
