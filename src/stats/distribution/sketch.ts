/**
 * A mergeable quantile sketch with bounded relative error, after DDSketch (Masson, Rim and Lee,
 * VLDB 2019): values are counted in buckets whose bounds grow by γ = (1 + α)/(1 − α), so a quantile
 * is off by at most α of its value. Merging adds counts: it is exact, associative and order-free.
 */

/** α: relative error of any quantile. */
export const RELATIVE_ERROR = 0.005;
const LOG_GAMMA = Math.log((1 + RELATIVE_ERROR) / (1 - RELATIVE_ERROR));
const GAMMA = Math.exp(LOG_GAMMA);
/** Magnitudes below this count as zero; in milliseconds it is a femtosecond. */
const SMALLEST = 1e-12;

const indexOf = (magnitude: number) => Math.ceil(Math.log(magnitude) / LOG_GAMMA);
/** Buckets of the smallest and the largest magnitude that are counted. */
const FIRST_INDEX = indexOf(SMALLEST);
const LAST_INDEX = indexOf(Number.MAX_VALUE);

export interface Sketch {
  /** Bucket index → count, of positive values. */
  readonly positive: Map<number, number>;
  /** Bucket index of |value| → count, of negative values. */
  readonly negative: Map<number, number>;
  zeros: number;
  count: number;
}

export function createSketch(): Sketch {
  return { positive: new Map(), negative: new Map(), zeros: 0, count: 0 };
}

/** Counts a value; NaN and infinities throw a RangeError, since no bucket holds them. */
export function addToSketch(sketch: Sketch, value: number, count = 1): void {
  if (!Number.isFinite(value)) throw new RangeError(`a sketch takes finite values, not ${value}`);
  sketch.count += count;
  const magnitude = Math.abs(value);
  if (magnitude < SMALLEST) {
    sketch.zeros += count;
    return;
  }
  const buckets = value > 0 ? sketch.positive : sketch.negative;
  const index = indexOf(magnitude);
  buckets.set(index, (buckets.get(index) ?? 0) + count);
}

/** Adds all counts of `source` to `target`, each of them `weight` times, which need not be whole. */
export function mergeSketch(target: Sketch, source: Sketch, weight = 1): void {
  target.count += weight * source.count;
  target.zeros += weight * source.zeros;
  for (const [index, count] of source.positive) {
    target.positive.set(index, (target.positive.get(index) ?? 0) + weight * count);
  }
  for (const [index, count] of source.negative) {
    target.negative.set(index, (target.negative.get(index) ?? 0) + weight * count);
  }
}

/** The sketch of all values times a positive `factor`: off by half a bucket more, which is RELATIVE_ERROR again. */
export function scaleSketch(sketch: Sketch, factor: number): Sketch {
  const shift = Math.round(Math.log(factor) / LOG_GAMMA);
  const move = (buckets: ReadonlyMap<number, number>) =>
    new Map([...buckets].map(([index, count]) => [index + shift, count]));
  return { ...sketch, positive: move(sketch.positive), negative: move(sketch.negative) };
}

/**
 * The quantile `p` in [0, 1] by nearest rank `⌊n·p⌋` (as `summarise` picks it), within RELATIVE_ERROR of the true value:
 * the least value with more than the share `p` of all counts up to it. NaN when the sketch is empty.
 */
export function sketchQuantile(sketch: Sketch, p: number): number {
  const [value = Number.NaN] = sketchQuantiles(sketch, [p]);
  return value;
}

/** Several quantiles at once, in the order asked for. */
export function sketchQuantiles(sketch: Sketch, ps: readonly number[]): number[] {
  const negative = sortedBuckets(sketch.negative, -1);
  const positive = sortedBuckets(sketch.positive, 1);
  const valueAt = (rank: number): number => {
    let left = rank;
    let last = Number.NaN;
    for (const [index, count] of negative) {
      if (left < count) return -bucketValue(index);
      left -= count;
      last = -bucketValue(index);
    }
    if (sketch.zeros > 0) last = 0;
    if (left < sketch.zeros) return 0;
    left -= sketch.zeros;
    for (const [index, count] of positive) {
      if (left < count) return bucketValue(index);
      left -= count;
    }
    const top = positive.at(-1);
    return top === undefined ? last : bucketValue(top[0]);
  };
  return ps.map((p) => valueAt(sketch.count * p));
}

/** The upper bound of a bucket, which it holds; its lower one is that of the bucket before. */
export function bucketBound(index: number): number {
  return Math.exp(index * LOG_GAMMA);
}

/**
 * Midpoint of a bucket in the sense of equal relative error to both of its bounds; of the last ones, whose bounds no
 * number is, the largest number.
 */
export function bucketValue(index: number): number {
  const middle = (2 * Math.exp(index * LOG_GAMMA)) / (1 + GAMMA);
  return Number.isFinite(middle) ? middle : Math.min(Number.MAX_VALUE, Math.exp(index * LOG_GAMMA) * (2 / (1 + GAMMA)));
}

function sortedBuckets(buckets: Map<number, number>, direction: 1 | -1): [number, number][] {
  return [...buckets].toSorted((a, b) => direction * (a[0] - b[0]));
}

const FORMAT = 1;

/** A call takes no more arguments than its stack has room for. */
const ARGUMENTS = 8_192;

/**
 * The sketch as base64 of varints: format, zeros, then per sign the number of buckets and, bucket by
 * bucket in order, the zig-zag gap to the index before and the count. Equal sketches give equal text.
 * Where that would be longer than `maxLength`, the values nearest to zero count as zero, as many as need be: the paper
 * bounds a sketch by its lowest buckets, too. The count stays exact, and quantiles of other values are as before.
 */
export function encodeSketch(sketch: Sketch, maxLength = Number.POSITIVE_INFINITY): string {
  const text = renderSketch(sketch);
  return text.length <= maxLength ? text : encodeSketch(keepLargest(sketch, maxLength / text.length), maxLength);
}

/** The sketch with this share of its buckets, less than 1: those of the largest magnitudes. */
function keepLargest(sketch: Sketch, share: number): Sketch {
  const falling = [...sketch.positive.keys(), ...sketch.negative.keys()].toSorted((a, b) => b - a);
  const dropped = falling[Math.floor(share * falling.length)] ?? LAST_INDEX;
  const kept = { ...createSketch(), zeros: sketch.zeros, count: sketch.count };
  for (const sign of ["positive", "negative"] as const) {
    for (const [index, count] of sketch[sign]) {
      if (index > dropped) kept[sign].set(index, count);
      else kept.zeros += count;
    }
  }
  return kept;
}

function renderSketch(sketch: Sketch): string {
  const bytes: number[] = [FORMAT];
  writeVarint(bytes, sketch.zeros);
  for (const buckets of [sketch.positive, sketch.negative]) {
    writeVarint(bytes, buckets.size);
    let previous = 0;
    for (const [index, count] of sortedBuckets(buckets, 1)) {
      const gap = index - previous;
      writeVarint(bytes, gap >= 0 ? gap * 2 : -gap * 2 - 1);
      writeVarint(bytes, count);
      previous = index;
    }
  }
  let text = "";
  for (let at = 0; at < bytes.length; at += ARGUMENTS) text += String.fromCharCode(...bytes.slice(at, at + ARGUMENTS));
  return btoa(text);
}

/** Reads what `encodeSketch` wrote; anything else throws a RangeError. */
export function decodeSketch(text: string): Sketch {
  const sketch = createSketch();
  sketch.zeros = scanSketch(text, (isPositive, index, count) => {
    (isPositive ? sketch.positive : sketch.negative).set(index, count);
    sketch.count += count;
  });
  sketch.count += sketch.zeros;
  return sketch;
}

/**
 * Visits the buckets of a text of `encodeSketch`, the positive ones first, each sign in order, and returns its zeros.
 * Throws a RangeError at invalid text, possibly after some visits.
 */
export function scanSketch(
  text: string,
  onBucket: (isPositive: boolean, index: number, count: number) => void,
): number {
  const reader = { end: readBase64(text), bytes, offset: 0 };
  if (readVarint(reader) !== FORMAT) throw new RangeError("not a sketch of a known format");
  const zeros = readVarint(reader);
  for (const isPositive of [true, false]) {
    const size = readVarint(reader);
    let index = 0;
    for (let i = 0; i < size; i++) {
      const zigzag = readVarint(reader);
      const gap = zigzag % 2 === 0 ? zigzag / 2 : -(zigzag + 1) / 2;
      const count = readVarint(reader);
      if (count === 0 || (i > 0 && gap <= 0))
        throw new RangeError("a bucket is empty, or stands twice or out of order");
      index += gap;
      if (index < FIRST_INDEX || index > LAST_INDEX) throw new RangeError("a bucket is of no finite value");
      onBucket(isPositive, index, count);
    }
  }
  if (reader.offset !== reader.end) throw new RangeError("bytes stand behind the sketch");
  return zeros;
}

function writeVarint(bytes: number[], value: number): void {
  let rest = value;
  while (rest >= 0x80) {
    bytes.push((rest % 0x80) | 0x80);
    rest = Math.floor(rest / 0x80);
  }
  bytes.push(rest);
}

/** Bytes of the sketch that is read now: reading is never interrupted. */
let bytes = new Uint8Array(4_096);

interface ByteReader {
  readonly bytes: Uint8Array;
  readonly end: number;
  offset: number;
}

function readVarint(reader: ByteReader): number {
  // Most are short, and this is where reading a sketch spends its time.
  const first = reader.offset < reader.end ? reader.bytes[reader.offset]! : 0x80;
  if (first < 0x80) {
    reader.offset++;
    return first;
  }
  let value = 0;
  for (let scale = 1; scale <= 2 ** 49; scale *= 0x80) {
    if (reader.offset >= reader.end) throw new RangeError("the sketch ends too early");
    const byte = reader.bytes[reader.offset++]!;
    value += (byte & 0x7f) * scale;
    if (byte < 0x80) return value;
  }
  throw new RangeError("a number in the sketch is too long");
}

const DIGITS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
/** Value of each digit by its character code; 64 for other characters. */
const VALUES = Uint8Array.from({ length: 128 }, (_, code) => {
  const value = DIGITS.indexOf(String.fromCharCode(code));
  return value < 0 ? 64 : value;
});

/**
 * Reads base64 into `bytes`, and returns how many: for texts of some hundred characters several times quicker than
 * `atob`, which reads whatever is not in whole groups of digits.
 */
function readBase64(text: string): number {
  if (bytes.length < text.length) bytes = new Uint8Array(2 * text.length);
  const target = bytes;
  const padding = text.endsWith("=") ? (text.endsWith("==") ? 2 : 1) : 0;
  const whole = text.length - (padding > 0 ? 4 : 0);
  let end = 0;
  for (let at = 0; at < whole; at += 4) {
    const a = valueOf(text, at);
    const b = valueOf(text, at + 1);
    const c = valueOf(text, at + 2);
    const d = valueOf(text, at + 3);
    if ((a | b | c | d) >= 64) return readByAtob(text);
    target[end] = (a << 2) | (b >> 4);
    target[end + 1] = (b << 4) | (c >> 2);
    target[end + 2] = (c << 6) | d;
    end += 3;
  }
  if (padding === 0) return end;
  const [a, b, c] = [valueOf(text, whole), valueOf(text, whole + 1), padding === 1 ? valueOf(text, whole + 2) : 0];
  if ((a | b | c) >= 64) return readByAtob(text);
  target[end++] = (a << 2) | (b >> 4);
  if (padding === 1) target[end++] = (b << 4) | (c >> 2);
  return end;
}

function valueOf(text: string, at: number): number {
  const code = text.charCodeAt(at);
  return code < 128 ? VALUES[code]! : 64;
}

function readByAtob(text: string): number {
  const read = decodeBase64(text);
  for (let i = 0; i < read.length; i++) bytes[i] = read.charCodeAt(i);
  return read.length;
}

function decodeBase64(text: string): string {
  try {
    return atob(text);
  } catch {
    throw new RangeError("the sketch is not base64");
  }
}
