/** Entry of the thread that paces a load: it sleeps until each arrival is due and then reports it. */
import { parentPort, workerData } from "node:worker_threads";
import type { DueArrival, Pace } from "./pace-arrivals.ts";

const { arrivalsMs, stop } = workerData as Pace;
const startedMs = performance.now();

for (const [index, arrivalMs] of arrivalsMs.entries()) {
  const dueMs = startedMs + arrivalMs;
  const waitMs = dueMs - performance.now();
  if (waitMs > 0) Atomics.wait(stop, 0, 0, waitMs);
  if (Atomics.load(stop, 0) !== 0) break;
  parentPort?.postMessage({ index, dueEpochMs: performance.timeOrigin + dueMs } satisfies DueArrival, []);
}
