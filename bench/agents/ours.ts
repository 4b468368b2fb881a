import { prepareKernel } from "../../src/gpu-runner/gpu/dispatch.ts";
import { createBatchEntry } from "../batch-entry.ts";
import type { Contender } from "../contest.ts";
import { inputsOf } from "../kernel-at-shape.ts";
import { describeChoice, openOwnGpu, tuneChoice } from "../own-gpu.ts";
import { type AgentCase, joinOutputs, referencesOf } from "./agent-case.ts";

/** The product's own kernel, tuned by the product's own search, through its own dispatch. */
export const contender: Contender<AgentCase> = async (input) => {
  const own = await openOwnGpu();
  const choice = await tuneChoice(own, input.kernel, input.shape);
  const prepared = await prepareKernel(own, choice, inputsOf(input));
  const names = referencesOf(input).map(({ output }) => output);
  const run = async (count: number): Promise<Float32Array> => {
    own.device.queue.submit(Array.from({ length: count }, () => prepared.encode()));
    const outputs = await Promise.all(names.map((name) => prepared.read(name)));
    own.gpu.throwUncaptured();
    return joinOutputs(outputs);
  };
  return createBatchEntry(run, input.runs, describeChoice(own, choice));
};
