import { type Tensor, typedView } from "../../src/protocol/wire/tensor.ts";
import { median } from "../../src/stats/distribution/summary.ts";
import type { Entry } from "../contest.ts";
import { type BlockCase, createBlock } from "../../src/gpu-runner/device-suite/block-networks.ts";

/** Shortest duration of a round, which has at least one answer; a second one of a large network may take a minute. */
const ROUND_MS = 200;

/** An entry with the metrics `time` (ms of an answer) and `startup` (ms from the file's bytes to the first answer). */
export async function createBlockEntry(
  input: BlockCase,
  open: (file: Uint8Array<ArrayBuffer>) => Promise<(inputs: readonly Tensor[]) => Promise<readonly Tensor[]>>,
  adapter: string | null,
): Promise<Entry> {
  const { file, inputs } = createBlock(input);
  const startedAt = performance.now();
  const ask = await open(file);
  const [output] = await ask(inputs);
  const startup = performance.now() - startedAt;
  const measure = async () => {
    const durationsMs: number[] = [];
    const begunAt = performance.now();
    for (let now = begunAt; now - begunAt < ROUND_MS;) {
      await ask(inputs);
      const endedAt = performance.now();
      durationsMs.push(endedAt - now);
      now = endedAt;
    }
    return { time: median(durationsMs), startup };
  };
  return { opened: { output: typedView(output!) as Float32Array, adapter }, measure, close: async () => {} };
}
