import type { MemoryFit, SweepStep } from "../../../protocol/models/model.ts";
import { summarise } from "../../../stats/distribution/distribution.ts";

export interface MemorySample {
  readonly rows: number;
  readonly bytes: number;
}

/**
 * Memory as `baseBytes + rows · bytesPerRow`: the ordinary least squares line through the samples; null without
 * samples.
 * A negative part is set to 0, and the other one is fitted alone.
 * Source: Legendre, 1805.
 */
export function fitMemory(samples: readonly MemorySample[]): MemoryFit | null {
  if (samples.length === 0) return null;
  const mean = (of: (sample: MemorySample) => number) =>
    samples.reduce((sum, sample) => sum + of(sample), 0) / samples.length;
  const [rows, bytes] = [mean((sample) => sample.rows), mean((sample) => sample.bytes)];
  const spread = mean((sample) => (sample.rows - rows) ** 2);
  const slope = spread === 0 ? 0 : mean((sample) => (sample.rows - rows) * (sample.bytes - bytes)) / spread;
  if (slope <= 0) return { baseBytes: bytes, bytesPerRow: 0 };
  const base = bytes - slope * rows;
  if (base >= 0) return { baseBytes: base, bytesPerRow: slope };
  const throughOrigin = mean((sample) => sample.rows * sample.bytes) / mean((sample) => sample.rows ** 2);
  return { baseBytes: 0, bytesPerRow: throughOrigin };
}

/** Warm-up requests before the first sample, within this share of a step's time; at least one. */
const WARMUP = 10;
const WARMUP_SHARE = 1 / 4;
/** Runs after which the gain of a batch size is judged. */
const PILOT = 16;
/** Samples after which a step may end with its time. */
const FEWEST_SAMPLES = 5;
/** Least ratio of rows a second by which a larger batch has to gain. */
const GAIN = 1.05;

/** Consecutive sizes without gain after which the sweep stops. */
const MOST_MISSED = 2;

export interface SweepOptions {
  readonly maxRows: number;
  /** Samples of each batch size, as long as a step stays below `stepMs`. */
  readonly iterations: number;
  readonly stepMs: number;
  /** Whether batches of this many rows may be measured at all. */
  readonly isSound: (rows: number) => Promise<boolean>;
  /** Milliseconds of one request with this many rows. */
  readonly serve: (rows: number) => Promise<number>;
  readonly onProgress: (done: number, total: number) => void;
  /** Monotonic clock. */
  readonly now?: () => number;
}

/**
 * Measures batches of 1, 2, 4 and so on rows, while they are sound and answer more rows a second than the last gain.
 * A size without gain is left out; the next one is still tried if there is time, since the moment may have been bad.
 */
export async function sweepBatches(options: SweepOptions): Promise<SweepStep[]> {
  const { now = () => performance.now() } = options;
  const sweep: SweepStep[] = [];
  let missed = 0;
  for (let rows = 1; rows <= options.maxRows && missed < MOST_MISSED; rows *= 2) {
    const last = sweep.at(-1);
    if (last !== undefined && !(await options.isSound(rows))) break;
    const worthMs = last === undefined ? Number.POSITIVE_INFINITY : (rows * last.serviceMs.p50) / last.rows / GAIN;
    const startedMs = now();
    const samplesMs = await measureStep(rows, worthMs, options);
    if (samplesMs !== null) sweep.push({ rows, serviceMs: summarise(samplesMs) });
    missed = samplesMs === null ? missed + 1 : 0;
    if (missed > 0 && now() - startedMs >= options.stepMs) break;
  }
  return sweep;
}

/** Durations of one batch size; null where its median is too long for a gain. */
async function measureStep(rows: number, worthMs: number, options: SweepOptions): Promise<number[] | null> {
  const { iterations, stepMs, serve, onProgress, now = () => performance.now() } = options;
  const startedMs = now();
  for (let i = 0; i < WARMUP && now() - startedMs < stepMs * WARMUP_SHARE; i++) await serve(rows);
  const samplesMs: number[] = [];
  while (samplesMs.length < iterations && (samplesMs.length < FEWEST_SAMPLES || now() - startedMs < stepMs)) {
    samplesMs.push(await serve(rows));
    if (samplesMs.length === PILOT && summarise(samplesMs).p50 > worthMs) return null;
    onProgress(samplesMs.length, iterations);
  }
  return summarise(samplesMs).p50 > worthMs ? null : samplesMs;
}
