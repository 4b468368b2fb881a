import { KERNELS } from "../../kernels/registry.ts";
import { prepareKernel } from "../../src/gpu-runner/gpu/dispatch.ts";
import { resolveBenchmark } from "../../src/gpu-runner/gpu/resolve-benchmark.ts";
import { createBatchEntry } from "../batch-entry.ts";
import type { Contender } from "../contest.ts";
import { SEED } from "../kernel-at-shape.ts";
import { describeChoice, openOwnGpu } from "../own-gpu.ts";
import type { ChoiceCase } from "./tuner-case.ts";

/** One of our kernels by one choice of variant and axes, through the product's own dispatch. */
export const contender: Contender<ChoiceCase> = async ({ kernel: name, shape, choice, runs }) => {
  const own = await openOwnGpu();
  const { variant, axes = {} } = choice;
  const request = { kernel: name, shape, dtype: "float32", ...(variant !== undefined && { variant }) } as const;
  const resolved = resolveBenchmark(KERNELS, request, axes);
  const inputs = resolved.kernel.generate(resolved.shape, SEED);
  const prepared = await prepareKernel(own, resolved, inputs);
  const { output } = resolved.kernel.reference(inputs, resolved.shape);
  const run = async (count: number) => {
    own.device.queue.submit(Array.from({ length: count }, () => prepared.encode()));
    const values = (await prepared.read(output)) as Float32Array;
    own.gpu.throwUncaptured();
    return values;
  };
  return createBatchEntry(run, runs, describeChoice(own, resolved));
};
