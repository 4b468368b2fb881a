import { once } from "node:events";
import { setImmediate, setTimeout } from "node:timers/promises";
import { Worker } from "node:worker_threads";
import type { LoadClock } from "./system-under-test.ts";

/**
 * Machine's monotonic clock in milliseconds, the same in every thread.
 * `performance.now` counts from the start of its thread.
 * Wall times of two starts do not give their distance, since that clock may have been set between.
 */
export function readMonotonicMs(): number {
  return Number(process.hrtime.bigint()) / 1e6;
}

const TIMER = new URL("load-timer.ts", import.meta.url);

/** Timers are late by a millisecond or more: they sleep up to this distance, and the thread sleeps the rest. */
const TIMER_UNTIL_MS = 10;

/** The monotonic clock of this process, with a thread that waits for it. */
export interface OpenLoadClock extends LoadClock {
  close(): Promise<void>;
}

/**
 * Opens the clock of a load.
 * Short waits sleep in a thread of their own: polling the event loop would use a core of the measured system.
 */
export async function openLoadClock(): Promise<OpenLoadClock> {
  const timer = new Worker(TIMER);
  await once(timer, "online");
  const waiting = new Map<number, () => void>();
  let lastId = 0;
  timer.on("message", (id: number) => {
    waiting.get(id)?.();
    waiting.delete(id);
  });
  const now = () => performance.now();
  const sleepPrecisely = (atMs: number) =>
    new Promise<void>((resolve) => {
      waiting.set(++lastId, resolve);
      timer.postMessage({ id: lastId, dueMs: readMonotonicMs() + atMs - now() }, []);
    });
  return {
    now,
    waitUntil: async (atMs, signal) => {
      const farMs = atMs - now() - TIMER_UNTIL_MS;
      if (farMs > 0) await setTimeout(farMs, undefined, { signal }).catch(() => {});
      if (now() >= atMs || signal.aborted) await setImmediate();
      else await sleepPrecisely(atMs);
    },
    close: async () => {
      await timer.terminate();
      for (const resolve of waiting.values()) resolve();
    },
  };
}
