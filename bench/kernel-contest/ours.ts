import { prepareKernel } from "../../src/gpu-runner/gpu/dispatch.ts";
import { KernelCall } from "../../src/gpu-runner/gpu/kernel-call.ts";
import { createBatchEntry } from "../batch-entry.ts";
import type { Contender } from "../contest.ts";
import { describeChoice, openOwnGpu, tuneChoice } from "../own-gpu.ts";
import { inputsOf } from "../kernel-at-shape.ts";
import { type KernelCase, pickFresh } from "./kernel-case.ts";

/** The product's own kernel, tuned by the product's own search, through its own dispatch. */
export const contender: Contender<KernelCase> = async (input) => {
  const own = await openOwnGpu();
  const choice = await tuneChoice(own, input.kernel, input.shape);
  const inputs = inputsOf(input);
  const { output } = choice.kernel.reference(inputs, choice.shape);
  const prepared = await prepareKernel(own, choice, inputs);
  const call = new KernelCall(own, prepared, output);
  const fresh = input.mode === "round-trip" ? pickFresh(inputs) : {};
  const run = async (count: number): Promise<Float32Array> => {
    prepared.upload(fresh);
    const values = await call.run(count);
    own.gpu.throwUncaptured();
    return values as Float32Array;
  };
  return createBatchEntry(run, input.runs, describeChoice(own, choice));
};
