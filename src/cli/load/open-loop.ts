import { setImmediate, setTimeout } from "node:timers/promises";

/** How one request ended: `ok` within its budget or `late`, else the code of its problem. */
export interface LoadOutcome {
  readonly result: string;
  /** From the scheduled arrival to the reply: what a caller who came then has waited. */
  readonly latencyMs: number;
  /** From the scheduled arrival to the sending: how far the generator itself was behind. */
  readonly lagMs: number;
}

/** Timers fire up to a millisecond late, so the last one is waited for by turns of the event loop. */
const TIMER_MS = 1.5;

/**
 * Sends a request at each arrival, whether or not those before it were answered (an open loop), and
 * waits for all answers. Latency counts from the scheduled arrival, so that a slow service cannot make
 * the load lighter (Tene's "coordinated omission"). An aborted signal ends the sending.
 */
export async function runOpenLoop(
  arrivalsMs: Float64Array,
  send: (index: number) => Promise<string>,
  onOutcome: (outcome: LoadOutcome) => void,
  signal: AbortSignal,
): Promise<void> {
  const startedAtMs = performance.now();
  const pending = new Set<Promise<void>>();
  for (const [index, arrivalMs] of arrivalsMs.entries()) {
    const dueAtMs = startedAtMs + arrivalMs;
    await waitUntil(dueAtMs, signal);
    if (signal.aborted) break;
    const lagMs = Math.max(0, performance.now() - dueAtMs);
    const answered = send(index).then((result) => onOutcome({ result, latencyMs: performance.now() - dueAtMs, lagMs }));
    pending.add(answered);
    void answered.finally(() => pending.delete(answered));
  }
  await Promise.all(pending);
}

async function waitUntil(atMs: number, signal: AbortSignal): Promise<void> {
  const napMs = atMs - performance.now() - TIMER_MS;
  if (napMs > 0) await setTimeout(napMs, undefined, { signal }).catch(() => {});
  while (!signal.aborted && performance.now() < atMs) await setImmediate();
}
