import { KERNELS } from "../../kernels/registry.ts";
import { BufferPool } from "../../src/gpu-runner/gpu/buffer-pool.ts";
import { openGpu } from "../../src/gpu-runner/gpu/device.ts";
import { prepareKernel } from "../../src/gpu-runner/gpu/dispatch.ts";
import { PipelineCache } from "../../src/gpu-runner/gpu/pipeline-cache.ts";
import { resolveBenchmark } from "../../src/gpu-runner/gpu/resolve-benchmark.ts";
import { createBatchEntry } from "../batch-entry.ts";
import type { Contender } from "../contest.ts";
import { type ChoiceCase, SEED } from "./tuner-case.ts";

/** One of our kernels by one choice of variant and axes, through the product's own dispatch. */
export const contender: Contender<ChoiceCase> = async ({ kernel: name, shape, choice, runs }) => {
  const gpu = await openGpu((reason) => {
    throw new Error(`the device was lost: ${reason}`);
  });
  const { device } = gpu;
  const context = { device, pipelines: new PipelineCache(device), pool: new BufferPool(device) };
  const { variant, axes = {} } = choice;
  const request = { kernel: name, shape, dtype: "float32", ...(variant !== undefined && { variant }) } as const;
  const resolved = resolveBenchmark(KERNELS, request, axes);
  const inputs = resolved.kernel.generate(resolved.shape, SEED);
  const prepared = await prepareKernel(context, resolved, inputs);
  const { output } = resolved.kernel.reference(inputs, resolved.shape);
  const { vendor, architecture, device: deviceName } = gpu.adapter.info;
  const run = async (count: number) => {
    device.queue.submit(Array.from({ length: count }, () => prepared.encode()));
    const values = (await prepared.read(output)) as Float32Array;
    gpu.throwUncaptured();
    return values;
  };
  return createBatchEntry(run, runs, {
    adapter: [vendor, architecture, deviceName].filter(Boolean).join(" "),
    note: `${resolved.variant.name} ${JSON.stringify(resolved.axes)}`,
  });
};
