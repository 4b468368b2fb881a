import { KERNELS } from "../../kernels/registry.ts";
import { BufferPool } from "../../src/gpu-runner/gpu/buffer-pool.ts";
import { openGpu } from "../../src/gpu-runner/gpu/device.ts";
import { prepareKernel } from "../../src/gpu-runner/gpu/dispatch.ts";
import { KernelCall } from "../../src/gpu-runner/gpu/kernel-call.ts";
import { PipelineCache } from "../../src/gpu-runner/gpu/pipeline-cache.ts";
import { probeGpu } from "../../src/gpu-runner/gpu/probe.ts";
import { resolveBenchmark } from "../../src/gpu-runner/gpu/resolve-benchmark.ts";
import { tuneKernel } from "../../src/gpu-runner/gpu/tune-kernel.ts";
import { TuningSpec } from "../../src/protocol/tuning.ts";
import { createBatchEntry } from "../batch-entry.ts";
import type { Contender } from "../contest.ts";
import { inputsOf, type KernelCase, pickFresh, SEED } from "./kernel-case.ts";

/** A bench has half a dozen cases. */
const TUNING = { budgetMs: 10_000, seed: SEED };

/** The product's own kernel, tuned by the product's own search, through its own dispatch. */
export const contender: Contender<KernelCase> = async (input) => {
  const gpu = await openGpu((reason) => {
    throw new Error(`the device was lost: ${reason}`);
  });
  const { device } = gpu;
  const context = { device, pipelines: new PipelineCache(device), pool: new BufferPool(device) };
  const description = await probeGpu(gpu, context, "gpu0");
  const { kernel, shape } = input;
  const search = { onProgress: () => {}, signal: new AbortController().signal };
  const spec = TuningSpec.parse({ kind: "tuning", kernel, shape, ...TUNING });
  const { best } = (await tuneKernel({ ...context, gpu, kernels: KERNELS, description }, spec, search)).tuning;

  const choice = resolveBenchmark(KERNELS, { kernel, shape, variant: best.variant }, best.axes);
  const inputs = inputsOf(input);
  const { output } = choice.kernel.reference(inputs, choice.shape);
  const prepared = await prepareKernel(context, choice, inputs);
  const call = new KernelCall(context, prepared, output);
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
