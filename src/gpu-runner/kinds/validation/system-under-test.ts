import type { JobProgress } from "../../../protocol/jobs/job.ts";
import { median } from "../../../stats/distribution/summary.ts";

/** How queries are asked, as a request may wish it. */
export interface QueryWishes {
  /** How sure an answer has to be in time; 0.99 where it is absent. */
  readonly confidence?: number;
  /**
   * Where as many requests are in flight as the configuration lets, a further one waits at its caller, or comes all
   * the same and is refused. Absent: it waits.
   */
  readonly beyondCap?: "waits" | "comes";
}

/** What is put under load. */
export interface SystemUnderTest {
  /** Samples that one call of `query` takes at most; drivers cut what is larger. */
  readonly maxSamples: number;
  /** One query of so many samples: resolves with the last byte of its answer, throws ProblemError where there is none. */
  query(samples: number): Promise<void>;
}

/** Parts of one query that are in flight at once: enough to keep a device busy while an answer travels. */
const PARTS_IN_FLIGHT = 4;

/** One query of any size, cut into what the system takes at once. Throws the first problem of a part. */
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

/** Lets so many pieces of work be under way at once, null for any number; the others wait, first come first served. */
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
      // The place goes to the next one as it is.
      const next = waiting.shift();
      if (next === undefined) free++;
      else next();
    }
  };
}

/** A monotonic clock that can be waited on. */
export interface LoadClock {
  /** Milliseconds. */
  now(): number;
  /**
   * Resolves once the clock has reached so many milliseconds, or soon after the signal is aborted; never rejects. It
   * lets other work be done first even where that moment is past.
   */
  waitUntil(atMs: number, signal: AbortSignal): Promise<void>;
}

/** What every load is driven with. */
export interface LoadOptions {
  readonly clock: LoadClock;
  /** Of arrivals. */
  readonly seed: number;
  /** Ends the load: what was running is let go, and the signal's reason is thrown. */
  readonly signal: AbortSignal;
  /** On the clock: no query begins after it, and what is not answered by then counts as `budget-exceeded`. */
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

/** Queries before the first that counts, and the time that they may take: the last of them may end later. */
const QUERIES = 16;
const WARM_UP_MS = 1_000;
const PAUSE_AFTER_ERROR_MS = 10;

/**
 * Asks query after query, none of which is counted. Gives the time of one in milliseconds, the median of those that
 * were answered; null where none was.
 */
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
      // A system that fails does so again where it counts.
      () => clock.waitUntil(clock.now() + PAUSE_AFTER_ERROR_MS, signal),
    );
    await untilDeadline(isAnswered, options);
  }
  return tookMs.length === 0 ? null : median(tookMs);
}
