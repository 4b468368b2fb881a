import { setTimeout } from "node:timers/promises";

/** Share of the expected time that is slept; the rest covers a run that is faster than expected. */
const SHARE = 0.85;
/** Least nap: below it, sleeping costs more than polling. */
const SHORTEST_MS = 4;

/**
 * Sleeps through most of the expected time of submitted work. Dawn polls with a whole core while a map or the end of
 * the queue is awaited, and a software device needs that core for itself.
 */
export async function napFor(expectedMs: number): Promise<void> {
  const napMs = chooseNapMs(expectedMs);
  if (napMs > 0) await setTimeout(napMs);
}

/** Whole milliseconds, minus one for a late timer; 0 where a nap is not worthwhile. */
export function chooseNapMs(expectedMs: number): number {
  const napMs = Math.floor(SHARE * expectedMs) - 1;
  return napMs >= SHORTEST_MS ? napMs : 0;
}

/** Number of remembered runs: a delayed one, or an overlong nap, is forgotten after as many. */
const REMEMBERED = 8;

/**
 * Predicts a kernel's next run by the shortest of its last ones. The first one is left out: it may include compilation
 * by the driver, and naps of that length would prolong the next runs, and so on.
 */
export class RunForecast {
  readonly #lastMs: number[] = [];
  #isFirst = true;

  /** Expected time of this many runs back to back; 0 where unknown. */
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

/** Time for which polling alone is fastest. */
const POLL_MS = 0.2;
/** Requested rest; the system makes some 60 µs of it. */
const REST_MS = 0.01;

const NEVER = new Int32Array(new SharedArrayBuffer(4));

/**
 * Waits for a result that Dawn polls for, with short rests between its polls after a while. A thread that polls without
 * rest holds its core for a whole scheduler slice, milliseconds, even where the threads of a software device wait for
 * that core. Rests block this process, but never for long.
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
