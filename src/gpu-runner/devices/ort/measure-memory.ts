import type { Tensor } from "../../../protocol/wire/tensor.ts";
import type { OrtBackend } from "./ort-backend.ts";
import { tryProvider } from "./try-provider.ts";

const MODEL_KEY = "measure-memory";
/** The runtime plans a batch's memory at its first run and may ask for more at the next. */
const RUNS = 3;

/**
 * By how many bytes the resident memory of this process has grown, from the runtime at rest to the model
 * loaded and each of these batches run, in turn. What a GPU's driver keeps outside of the process is not
 * seen. Nothing else may happen in the process meanwhile.
 */
export async function measureMemory(
  ort: OrtBackend,
  model: Uint8Array,
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
