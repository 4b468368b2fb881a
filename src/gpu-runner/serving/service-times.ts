/** Samples of a batch size that are kept, and how long one counts. */
const KEPT_SAMPLES = 256;
const LIFETIME_MS = 60_000;
/** Of a size that ran less often in that time, older samples count, too. */
const FEWEST_SAMPLES = 16;
/** A quantile is read anew after so many further samples. */
const STALE_AFTER = 8;

interface Sample {
  readonly atMs: number;
  readonly durationMs: number;
}

interface Size {
  readonly rows: number;
  samples: Sample[];
  readonly quantiles: Map<number, number>;
  sinceRead: number;
}

/**
 * What batches of one placement took lately, by their size. A quantile of a size is the nearest rank of
 * its last minute; between two sizes that were seen it is on the straight line between theirs, beyond
 * the largest on the line through the last two. So drift shows within as many batches as it lasts.
 */
export class ServiceTimes {
  /** By rows, rising. */
  #sizes: Size[] = [];

  /** The largest size that was seen; 0 before the first. */
  get largestRows(): number {
    return this.#sizes.at(-1)?.rows ?? 0;
  }

  note(rows: number, durationMs: number, nowMs: number): void {
    const size = this.#sizeOf(rows);
    size.samples.push({ atMs: nowMs, durationMs });
    if (size.samples.length > FEWEST_SAMPLES) {
      const recent = size.samples.filter(({ atMs }) => nowMs - atMs <= LIFETIME_MS);
      size.samples = (recent.length >= FEWEST_SAMPLES ? recent : size.samples.slice(-FEWEST_SAMPLES)).slice(
        -KEPT_SAMPLES,
      );
    }
    size.sinceRead++;
  }

  /** The duration that a batch stays under with this confidence; 0 as long as nothing was seen. */
  quantileMs(rows: number, confidence: number): number {
    const [first] = this.#sizes;
    if (first === undefined) return 0;
    const above = this.#sizes.findIndex((size) => size.rows >= rows);
    const upper = this.#sizes[above];
    if (upper?.rows === rows || above === 0) return readQuantile(upper!, confidence);
    const right = upper ?? this.#sizes.at(-1)!;
    const left = this.#sizes[(upper === undefined ? this.#sizes.length - 1 : above) - 1];
    const rightMs = readQuantile(right, confidence);
    // With one size alone, time is taken as proportional: nothing is known of what is fixed.
    if (left === undefined) return (rightMs * rows) / right.rows;
    const leftMs = readQuantile(left, confidence);
    const slope = (rightMs - leftMs) / (right.rows - left.rows);
    // Noise may make a larger batch look faster; it is never taken to be.
    return Math.max(leftMs, leftMs + slope * (rows - left.rows));
  }

  #sizeOf(rows: number): Size {
    const known = this.#sizes.find((size) => size.rows === rows);
    if (known !== undefined) return known;
    const size: Size = { rows, samples: [], quantiles: new Map(), sinceRead: 0 };
    this.#sizes = [...this.#sizes, size].toSorted((a, b) => a.rows - b.rows);
    return size;
  }
}

function readQuantile(size: Size, confidence: number): number {
  if (size.sinceRead >= STALE_AFTER || size.samples.length <= FEWEST_SAMPLES) {
    size.quantiles.clear();
    size.sinceRead = 0;
  }
  const known = size.quantiles.get(confidence);
  if (known !== undefined) return known;
  const sorted = size.samples.map(({ durationMs }) => durationMs).toSorted((a, b) => a - b);
  const value = sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * confidence))] ?? 0;
  size.quantiles.set(confidence, value);
  return value;
}
