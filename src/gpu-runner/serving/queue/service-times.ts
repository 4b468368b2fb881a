import { LIMITS } from "../../../protocol/wire/limits.ts";

/** Confidences that times are told at; one between two of them counts as the higher. */
const CONFIDENCES = [0, 0.5, 0.75, 0.9, 0.95, 0.98, 0.99, 0.995, 0.999] as const;

/** A confidence as its place among those that times are told at. */
export type Level = number;

/** The level of a confidence, at least as sure. */
export function levelOf(confidence: number): Level {
  const level = CONFIDENCES.findIndex((known) => known >= confidence);
  return level < 0 ? CONFIDENCES.length - 1 : level;
}

/** The level of a coin's toss. */
export const EVEN: Level = levelOf(0.5);

/** Batches of a size whose mean is what it is expected to take. */
export const RECENT_SAMPLES = 32;
/** Samples of a size that are kept, and how long one counts. */
const KEPT_SAMPLES = 512;
const LIFETIME_MS = 60_000;
/** Of a size that ran less often in that time, older samples count, too. */
const FEWEST_SAMPLES = 16;
/** A size is known from so many samples on: before that one hiccup would be all that is seen of it. */
const KNOWN_FROM = 4;
/** Times are read anew when this share of a size's samples is new. */
const STALE_SHARE = 1 / 16;
/** What a row may cost above the least where a size is chosen, and where it is kept: noise shall not move it. */
const CHOSEN_COST = 1.03;
const KEPT_COST = 1.05;
/** Confidence up to which the last few samples are asked, too. */
const RECENT_CONFIDENCE = 0.9;

/** Batches of one octave of rows, (2^(n-1), 2^n]: their rows and durations, oldest first, and what was read of them. */
interface Size {
  readonly octave: number;
  readonly rows: number[];
  readonly durationsMs: number[];
  readonly atMs: number[];
  unread: number;
  read: { readonly rows: number; readonly expectedMs: number; readonly quantilesMs: readonly number[] };
}

/**
 * What batches of one kind took lately, by their size. A quantile of a size is the nearest rank of its
 * last minute, or that of its last few batches up to nine tenths where they are slower: so a drift shows
 * within as many batches. Between two sizes a time is on the straight line between theirs, outside of
 * them on the line through the nearest two.
 */
export class ServiceTimes {
  /** By octave, rising. */
  #sizes: Size[] = [];
  /** Times by rows, first those that are expected, then each level's; NaN is not read yet. */
  readonly #curves = new Float64Array((LIMITS.batchRows + 1) * (CONFIDENCES.length + 1)).fill(Number.NaN);
  #maxRows = 1;
  /** The octave in which a row costs little enough. */
  #cheapOctave = 0;
  #notedAtMs = Number.NEGATIVE_INFINITY;

  /** When the last batch ended; -∞ before the first. */
  get notedAtMs(): number {
    return this.#notedAtMs;
  }

  /**
   * The largest batch to form: twice what was seen, until a row costs no less in a larger one; then the
   * smallest in which it costs next to the least. What is larger only keeps the next ones waiting.
   */
  get maxRows(): number {
    return this.#maxRows;
  }

  note(rows: number, durationMs: number, nowMs: number): void {
    this.#notedAtMs = nowMs;
    const size = this.#sizeOf(rows);
    size.rows.push(rows);
    size.durationsMs.push(durationMs);
    size.atMs.push(nowMs);
    if (size.rows.length > KEPT_SAMPLES) for (const list of [size.rows, size.durationsMs, size.atMs]) list.shift();
    size.unread++;
    if (size.unread < STALE_SHARE * size.rows.length) return;
    // What has aged meanwhile goes from all sizes: one that is not formed any more would keep its spikes.
    for (const each of this.#sizes) each.read = readSize(each, nowMs);
    size.unread = 0;
    this.#curves.fill(Number.NaN);
    this.#maxRows = this.#findMaxRows();
  }

  /** What a batch usually takes, the slowest of the last ones left out; 0 as long as nothing was seen. */
  expectedMs(rows: number): number {
    return this.#time(rows, 0);
  }

  /** The duration that a batch stays under at this level; 0 as long as nothing was seen. */
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
    // With one size alone, time is taken as proportional: nothing is known of what is fixed.
    if (known.length === 1) return timeOf(only, curve) * Math.max(1, rows / only.read.rows);
    const above = known.findIndex(({ read }) => read.rows >= rows);
    const right = above < 0 ? known.length - 1 : Math.max(1, above);
    const [left, { read }] = [known[right - 1]!, known[right]!];
    const [leftMs, rightMs] = [timeOf(left, curve), timeOf(known[right]!, curve)];
    // Noise may make a larger batch look faster; it is never taken to be.
    const slope = Math.max(0, rightMs - leftMs) / (read.rows - left.read.rows);
    // Nor can a smaller one cost less than its share.
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

/** Of fewer than 100 the one below the slowest is the 0.99 quantile: one spike is no tail. */
function nearestRank(sorted: Float64Array, confidence: number): number {
  return sorted[Math.floor((sorted.length - 1) * confidence)]!;
}

/** The mean of all values but the one at this index. */
function meanBut(values: readonly number[], left: number): number {
  let sum = 0;
  for (const value of values) sum += value;
  return left < 0 ? sum / values.length : (sum - values[left]!) / (values.length - 1);
}
