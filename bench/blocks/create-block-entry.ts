import { type Tensor, typedView } from "../../src/protocol/wire/tensor.ts";
import { createBatchEntry } from "../batch-entry.ts";
import type { Entry } from "../contest.ts";
import { type BlockCase, createBlock } from "./networks.ts";

/** An entry with the metrics `time` (ms of an answer) and `startup` (ms from the file's bytes to the first answer). */
export async function createBlockEntry(
  input: BlockCase,
  open: (file: Uint8Array<ArrayBuffer>) => Promise<(inputs: readonly Tensor[]) => Promise<readonly Tensor[]>>,
  adapter: string | null,
): Promise<Entry> {
  const { file, inputs } = createBlock(input);
  const startedAt = performance.now();
  const ask = await open(file);
  await ask(inputs);
  const startup = performance.now() - startedAt;
  const run = async (count: number): Promise<Float32Array> => {
    for (let i = 1; i < count; i++) await ask(inputs);
    return typedView((await ask(inputs))[0]!) as Float32Array;
  };
  const entry = await createBatchEntry(run, 1, { adapter });
  return { ...entry, measure: async () => ({ ...(await entry.measure()), startup }) };
}
