import { BufferPool } from "../../src/gpu-runner/gpu/buffer-pool.ts";
import { openGpu } from "../../src/gpu-runner/gpu/device.ts";
import { PipelineCache } from "../../src/gpu-runner/gpu/pipeline-cache.ts";
import { createBatchEntry } from "../batch-entry.ts";
import type { Contender } from "../contest.ts";
import { findFastest } from "./find-fastest.ts";
import { inputsOf, type KernelCase, pickFresh, specOf } from "./kernel-case.ts";

/** The product's own kernel through the product's own dispatch. */
export const contender: Contender<KernelCase> = async (input) => {
  const gpu = await openGpu((reason) => {
    throw new Error(`the device was lost: ${reason}`);
  });
  const { device } = gpu;
  const context = { device, pipelines: new PipelineCache(device), pool: new BufferPool(device) };
  const inputs = inputsOf(input);
  const { output } = specOf(input).reference(inputs, input.shape);
  const { choice, prepared, call } = await findFastest(context, input, output);

  const fresh = input.mode === "round-trip" ? pickFresh(inputs) : {};
  const run = async (count: number): Promise<Float32Array> => {
    prepared.upload(fresh);
    const values = await call.run(count);
    gpu.throwUncaptured();
    return values as Float32Array;
  };
  const { vendor, architecture, device: name } = gpu.adapter.info;
  return createBatchEntry(run, input.runs, {
    adapter: [vendor, architecture, name].filter(Boolean).join(" "),
    note: `${choice.variant.name} ${JSON.stringify(choice.axes)}`,
  });
};
