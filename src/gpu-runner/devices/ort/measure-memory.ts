import type { Tensor } from "../../../protocol/wire/tensor.ts";
import type { ModelContent } from "./model-paths.ts";
import type { OrtBackend } from "./ort-backend.ts";
import { tryProvider } from "./try-provider.ts";

const MODEL_KEY = "measure-memory";
/** The runtime plans a batch's memory at its first run and may request more at the next. */
const RUNS = 3;

/**
 * Growth of this process's resident memory in bytes, from the idle runtime to the loaded model after each batch, run in
 * turn. Memory that a GPU's driver keeps outside the process is not included. Nothing else may run in the process
 * meanwhile.
 */
export async function measureMemory(
  ort: OrtBackend,
  model: ModelContent,
  batches: readonly (readonly Tensor[])[],
  threads?: number,
): Promise<number[]> {
  await tryProvider(ort);
  const restBytes = process.memoryUsage.rss();
  await ort.load(MODEL_KEY, model, threads);
  const grownBytes: number[] = [];
  for (const batch of batches) {
    for (let run = 0; run < RUNS; run++) await ort.run(MODEL_KEY, batch);
    grownBytes.push(Math.max(0, process.memoryUsage.rss() - restBytes));
  }
  await ort.unload(MODEL_KEY);
  return grownBytes;
}
