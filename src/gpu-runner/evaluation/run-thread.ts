import { once } from "node:events";
import { Worker } from "node:worker_threads";

/** What a thread of its own makes of plain data and sends back once. An aborted signal ends it. */
export async function runThread<Outcome>(file: URL, workerData: unknown, signal: AbortSignal): Promise<Outcome> {
  const worker = new Worker(file, { workerData });
  try {
    const [outcome] = (await once(worker, "message", { signal })) as [Outcome];
    return outcome;
  } finally {
    await worker.terminate();
  }
}
