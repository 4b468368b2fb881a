import { paceArrivals } from "./pace-arrivals.ts";

/** Outcome of one request: `ok` within its budget or `late`, else the code of its problem. */
export interface LoadOutcome {
  readonly result: string;
  /** From the scheduled arrival to the reply: the wait of a caller who came then. */
  readonly latencyMs: number;
  /** From the scheduled arrival to the sending: how far the generator itself was behind. */
  readonly lagMs: number;
}

/**
 * Sends a request at each arrival, whether or not those before it were answered (an open loop), and
 * waits for all answers. Latency counts from the scheduled arrival, so that a slow service cannot make
 * the load lighter (Tene's "coordinated omission"). An aborted signal ends the sending. Where `send`
 * rejects, the loop goes on, and throws the first reason at its end.
 */
export async function runOpenLoop(
  arrivalsMs: Float64Array,
  send: (index: number, lagMs: number) => Promise<string>,
  onOutcome: (outcome: LoadOutcome, index: number) => void,
  signal: AbortSignal,
): Promise<void> {
  const pending = new Set<Promise<void>>();
  const failures: unknown[] = [];
  for await (const { index, dueAtMs } of paceArrivals(arrivalsMs, signal)) {
    const lagMs = Math.max(0, performance.now() - dueAtMs);
    const answered: Promise<void> = send(index, lagMs)
      .then((result) => onOutcome({ result, latencyMs: performance.now() - dueAtMs, lagMs }, index))
      .catch((error: unknown) => {
        if (failures.length === 0) failures.push(error);
      })
      .finally(() => pending.delete(answered));
    pending.add(answered);
  }
  await Promise.all(pending);
  if (failures.length > 0) throw failures[0];
}
