/** Entry of a load's timer thread: it sleeps until the moment that it receives, and then sends it back. */
import { parentPort } from "node:worker_threads";
import { readMonotonicMs } from "./open-load-clock.ts";

const never = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));

parentPort?.on("message", ({ id, dueMs }: { id: number; dueMs: number }) => {
  const waitMs = dueMs - readMonotonicMs();
  if (waitMs > 0) Atomics.wait(never, 0, 0, waitMs);
  parentPort?.postMessage(id, []);
});
