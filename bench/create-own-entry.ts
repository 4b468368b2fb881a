import { prepareKernel } from "../src/gpu-runner/kernels/dispatch/dispatch.ts";
import type { KernelChoice } from "../src/gpu-runner/kernels/dispatch/resolve-benchmark.ts";
import { createBatchEntry } from "./batch-entry.ts";
import type { Entry } from "./contest.ts";
import { joinOutputs } from "./join-outputs.ts";
import { inputsOf, referencesOf } from "./kernel-at-shape.ts";
import { KernelCall } from "./kernel-call.ts";
import { describeChoice, type OwnGpu } from "./own-gpu.ts";

/**
 * A choice of ours through the product's own dispatch, as an entry whose metric `time` is that of one of `runs` runs: a
 * batch uploads the inputs named by `fresh`, and ends with all outputs in host memory.
 */
export async function createOwnEntry(
  own: OwnGpu,
  choice: KernelChoice,
  { runs, fresh }: { readonly runs: number; readonly fresh: readonly string[] },
): Promise<Entry> {
  const input = { kernel: choice.kernel.name, shape: choice.shape };
  const inputs = inputsOf(input);
  const prepared = await prepareKernel(own, choice, inputs);
  const outputs = referencesOf(input).map(({ output }) => output);
  const call = new KernelCall(own, prepared, outputs);
  const uploads = Object.fromEntries(fresh.map((name) => [name, inputs[name]!]));
  const run = async (count: number): Promise<Float32Array> => {
    prepared.upload(uploads);
    const values = await call.run(count);
    own.gpu.throwUncaptured();
    return joinOutputs(values);
  };
  return createBatchEntry(run, runs, describeChoice(own, choice));
}
