import type { JobProgress } from "../../../protocol/jobs/job.ts";
import { median } from "../../../stats/distribution/summary.ts";

/** Preferences of a query, as in a request. */
export interface QueryWishes {
  /** Required probability of an answer in time; 0.99 where absent. */
  readonly confidence?: number;
  /**
   * Behaviour beyond the configuration's cap of requests in flight: the caller waits, or sends anyway and is refused.
   * Absent: it waits.
   */
  readonly beyondCap?: "waits" | "comes";
}

/** System under load. */
export interface SystemUnderTest {
  /** Most samples of one call of `query`; drivers split larger queries. */
  readonly maxSamples: number;
  /** One query of `samples` samples: resolves at the last byte of its answer, throws ProblemError without one. */
  query(samples: number): Promise<void>;
}

/** Parts of one query in flight at once: enough to keep a device busy while an answer travels. */
const PARTS_IN_FLIGHT = 4;

/** One query of any size, split into parts that the system accepts. Throws the first problem of a part. */
export async function askSystem(system: SystemUnderTest, samples: number): Promise<void> {
  if (samples <= system.maxSamples) return system.query(samples);
  let left = samples;
  const askParts = async () => {
    while (left > 0) {
      const part = Math.min(left, system.maxSamples);
      left -= part;
      await system.query(part);
    }
  };
  const parts = await Promise.allSettled(Array.from({ length: PARTS_IN_FLIGHT }, askParts));
  for (const part of parts) if (part.status === "rejected") throw part.reason;
}

/** Limits concurrent work to `most`, null for no limit; the rest waits, first come first served. */
export function createGate(most: number | null): <Value>(work: () => Promise<Value>) => Promise<Value> {
  if (most === null) return (work) => work();
  let free = most;
  const waiting: (() => void)[] = [];
  return async (work) => {
    if (free > 0) free--;
    else await new Promise<void>((enter) => waiting.push(enter));
    try {
      return await work();
    } finally {
      // The slot passes directly to the next in line.
      const next = waiting.shift();
      if (next === undefined) free++;
      else next();
    }
  };
}

/** Monotonic clock with waiting. */
export interface LoadClock {
  /** Current time in milliseconds. */
  now(): number;
  /**
   * Resolves once the clock has reached `atMs`, or soon after the signal is aborted; never rejects.
   * It yields to other work first even where that moment is past.
   */
  waitUntil(atMs: number, signal: AbortSignal): Promise<void>;
}

/** Options of every load. */
export interface LoadOptions {
  readonly clock: LoadClock;
  /** Seed of arrivals. */
  readonly seed: number;
  /** Ends the load: running queries are abandoned, and the signal's reason is thrown. */
  readonly signal: AbortSignal;
  /** Deadline on the clock: no query begins after it, and queries unanswered by then count as `budget-exceeded`. */
  readonly deadlineMs: number;
  readonly onProgress: (progress: JobProgress) => void;
}

/** Waits for work, but not beyond the deadline. Throws the signal's reason once it is aborted. */
export async function untilDeadline(
  work: Promise<unknown>,
  { clock, deadlineMs, signal }: Pick<LoadOptions, "clock" | "deadlineMs" | "signal">,
): Promise<void> {
  const done = new AbortController();
  try {
    await Promise.race([work, clock.waitUntil(deadlineMs, AbortSignal.any([signal, done.signal]))]);
  } finally {
    done.abort();
  }
  signal.throwIfAborted();
}

/** Warm-up queries before the first that counts, and their time limit; the last of them may end later. */
const QUERIES = 16;
const WARM_UP_MS = 1_000;
const PAUSE_AFTER_ERROR_MS = 10;

/** Sends queries that are not counted. Returns the median time of those answered in milliseconds; null without any. */
export async function warmUp(
  system: SystemUnderTest,
  samples: number,
  options: Omit<LoadOptions, "seed">,
): Promise<number | null> {
  const { clock, signal, onProgress } = options;
  const tookMs: number[] = [];
  const startMs = clock.now();
  for (let query = 0; query < QUERIES && clock.now() - startMs < WARM_UP_MS; query++) {
    onProgress({ phase: "warm up", done: query, total: QUERIES });
    const sentMs = clock.now();
    const isAnswered = askSystem(system, samples).then(
      () => tookMs.push(clock.now() - sentMs),
      // A system that fails here fails again in the measured load.
      () => clock.waitUntil(clock.now() + PAUSE_AFTER_ERROR_MS, signal),
    );
    await untilDeadline(isAnswered, options);
  }
  return tookMs.length === 0 ? null : median(tookMs);
}
