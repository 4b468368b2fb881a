import { on } from "node:events";
import { Worker } from "node:worker_threads";

const PACER = new URL("pacer.ts", import.meta.url);

/** Input of the pacer; the first word becomes 1 to stop it. */
export interface Pace {
  readonly arrivalsMs: Float64Array;
  readonly stop: Int32Array<SharedArrayBuffer>;
}

/** The pacer's message, in milliseconds since the epoch: the due arrival, and its actual time. */
export interface DueArrival {
  readonly index: number;
  readonly dueEpochMs: number;
}

/**
 * Gives every arrival when it is due, `dueAtMs` on the monotonic clock; an aborted signal ends it. A
 * thread of its own sleeps until then: timers are up to a millisecond late, and turning round in the
 * event loop would take a core from what is measured.
 */
export async function* paceArrivals(
  arrivalsMs: Float64Array,
  signal: AbortSignal,
): AsyncGenerator<{ index: number; dueAtMs: number }> {
  const stop = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));
  const pacer = new Worker(PACER, { workerData: { arrivalsMs, stop } satisfies Pace });
  try {
    // The pacer ends behind its last arrival.
    for await (const [due] of on(pacer, "message", { close: ["exit"], signal })) {
      const { index, dueEpochMs } = due as DueArrival;
      yield { index, dueAtMs: dueEpochMs - performance.timeOrigin };
    }
  } catch (error) {
    if (!signal.aborted) throw error;
  } finally {
    Atomics.store(stop, 0, 1);
    Atomics.notify(stop, 0);
    await pacer.terminate();
  }
}
