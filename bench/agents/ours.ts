import { BufferPool } from "../../src/gpu-runner/gpu/buffer-pool.ts";
import { openGpu } from "../../src/gpu-runner/gpu/device.ts";
import { type KernelContext, type PreparedKernel, prepareKernel } from "../../src/gpu-runner/gpu/dispatch.ts";
import { PipelineCache } from "../../src/gpu-runner/gpu/pipeline-cache.ts";
import type { KernelChoice } from "../../src/gpu-runner/gpu/resolve-benchmark.ts";
import { createBatchEntry } from "../batch-entry.ts";
import type { Contender } from "../contest.ts";
import { type AgentCase, inputsOf, joinOutputs, referencesOf, specOf } from "./agent-case.ts";

/** A candidate runs so often; its best counts. */
const TRIALS = 3;

/** The product's own kernels through the product's own dispatch. */
export const contender: Contender<AgentCase> = async (input) => {
  const gpu = await openGpu((reason) => {
    throw new Error(`the device was lost: ${reason}`);
  });
  const { device } = gpu;
  const context = { device, pipelines: new PipelineCache(device), pool: new BufferPool(device) };
  const names = referencesOf(input).map(({ output }) => output);
  const { choice, prepared } = await findFastest(context, input);
  const run = async (count: number): Promise<Float32Array> => {
    device.queue.submit(Array.from({ length: count }, () => prepared.encode()));
    const outputs = await Promise.all(names.map((name) => prepared.read(name)));
    gpu.throwUncaptured();
    return joinOutputs(outputs);
  };
  const { vendor, architecture, device: name } = gpu.adapter.info;
  return createBatchEntry(run, input.runs, {
    adapter: [vendor, architecture, name].filter(Boolean).join(" "),
    note: `${choice.variant.name} ${JSON.stringify(choice.axes)}`,
  });
};

/** Tries every variant with every value of its axes. */
async function findFastest(
  context: KernelContext,
  input: AgentCase,
): Promise<{ readonly choice: KernelChoice; readonly prepared: PreparedKernel }> {
  const inputs = inputsOf(input);
  const trials = [];
  for (const choice of listChoices(input)) {
    const prepared = await prepareKernel(context, choice, inputs);
    const durationsMs: number[] = [];
    // The first one compiles.
    for (let trial = 0; trial <= TRIALS; trial++) durationsMs.push(await timeOne(context.device, prepared));
    prepared.release();
    trials.push({ choice, ms: Math.min(...durationsMs.slice(1)) });
  }
  const best = trials.toSorted((a, b) => a.ms - b.ms)[0];
  if (best === undefined) throw new Error("the kernel has no variants");
  return { choice: best.choice, prepared: await prepareKernel(context, best.choice, inputs) };
}

async function timeOne(device: GPUDevice, prepared: PreparedKernel): Promise<number> {
  const startedAt = performance.now();
  device.queue.submit([prepared.encode()]);
  await device.queue.onSubmittedWorkDone();
  return performance.now() - startedAt;
}

function listChoices(input: AgentCase): KernelChoice[] {
  const kernel = specOf(input);
  return kernel.variants.flatMap((variant) => {
    let settings: Record<string, number>[] = [{}];
    for (const { name, values } of variant.axes) {
      settings = settings.flatMap((chosen) => values.map((value) => ({ ...chosen, [name]: value })));
    }
    return settings.map((axes) => ({ kernel, variant, shape: input.shape, axes }));
  });
}
