import { setTimeout } from "node:timers/promises";

/** Of the expected time, so much is slept: what is left covers a run that is faster than expected. */
const SHARE = 0.85;
/** Below this, sleeping costs more than polling does. */
const SHORTEST_MS = 4;

/**
 * Sleeps through most of what submitted work is expected to take. Dawn polls with a whole core while a
 * map or the end of the queue is awaited, and a software device needs that core for itself.
 */
export async function napFor(expectedMs: number): Promise<void> {
  const napMs = chooseNapMs(expectedMs);
  if (napMs > 0) await setTimeout(napMs);
}

/** Whole milliseconds, less one that the timer may be late; 0 where a nap is not worth it. */
export function chooseNapMs(expectedMs: number): number {
  const napMs = Math.floor(SHARE * expectedMs) - 1;
  return napMs >= SHORTEST_MS ? napMs : 0;
}

/** Runs that are remembered: one that was delayed, or a nap that was too long, is forgotten after so many. */
const REMEMBERED = 8;

/**
 * Expects of each run of a kernel what the shortest of its last ones took. The first one is left out: where it
 * paid for what the driver compiles, naps by it would make the next ones as long, and those the next.
 */
export class RunForecast {
  readonly #lastMs: number[] = [];
  #isFirst = true;

  /** How long so many runs back to back are expected to take; 0 where nothing is known. */
  expectMs(runs: number): number {
    return this.#lastMs.length === 0 ? 0 : runs * Math.min(...this.#lastMs);
  }

  note(runs: number, tookMs: number): void {
    if (this.#isFirst) {
      this.#isFirst = false;
      return;
    }
    this.#lastMs.push(tookMs / runs);
    if (this.#lastMs.length > REMEMBERED) this.#lastMs.shift();
  }
}

/** So long polling alone is quickest. */
const POLL_MS = 0.2;
/** Asked for; the system makes some 60 µs of it. */
const REST_MS = 0.01;

const NEVER = new Int32Array(new SharedArrayBuffer(4));

/**
 * Waits for what Dawn polls for, and rests for a moment between its polls once it takes longer. A thread that
 * polls without rest holds its core for a whole slice of the scheduler, milliseconds, even where the threads of a
 * software device wait for that core. Rests block this process, but never for long.
 */
export function shareCoreUntil<Result>(pending: Promise<Result>): Promise<Result> {
  let settled = false;
  const settle = () => {
    settled = true;
  };
  pending.then(settle, settle);
  const startedAt = performance.now();
  const rest = () => {
    if (settled) return;
    if (performance.now() - startedAt > POLL_MS) Atomics.wait(NEVER, 0, 0, REST_MS);
    setImmediate(rest);
  };
  setImmediate(rest);
  return pending;
}
