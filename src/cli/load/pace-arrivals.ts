import { on } from "node:events";
import { Worker } from "node:worker_threads";

const PACER = new URL("pacer.ts", import.meta.url);

/** What the pacer is given: its first word becomes 1 where it shall end. */
export interface Pace {
  readonly arrivalsMs: Float64Array;
  readonly stop: Int32Array<SharedArrayBuffer>;
}

/** What the pacer tells, in milliseconds since the epoch: the arrival that is due, and when it was. */
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
