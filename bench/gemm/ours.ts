import { gemm } from "../../kernels/gemm/gemm.kernel.ts";
import { BufferPool } from "../../src/gpu-runner/gpu/buffer-pool.ts";
import { openGpu } from "../../src/gpu-runner/gpu/device.ts";
import { type KernelContext, type PreparedKernel, prepareKernel } from "../../src/gpu-runner/gpu/dispatch.ts";
import { PipelineCache } from "../../src/gpu-runner/gpu/pipeline-cache.ts";
import type { KernelChoice } from "../../src/gpu-runner/gpu/resolve-benchmark.ts";
import { createBatchEntry } from "../batch-entry.ts";
import type { Contender } from "../contest.ts";
import { createMatrices, type GemmCase, shapeOf } from "./gemm-case.ts";

/** So much slower than the best so far, a candidate is not tried a second time. */
const HOPELESS = 1.5;

interface Trial {
  readonly choice: KernelChoice;
  readonly prepared: PreparedKernel;
  readonly ms: number;
}

/** The product's own gemm through the product's own dispatch. */
export const contender: Contender<GemmCase> = async ({ size, products }) => {
  const gpu = await openGpu((reason) => {
    throw new Error(`the device was lost: ${reason}`);
  });
  const { device } = gpu;
  const context = { device, pipelines: new PipelineCache(device), pool: new BufferPool(device) };
  const { choice, prepared } = await findFastest(context, size);
  const { vendor, architecture, device: name } = gpu.adapter.info;
  const run = async (count: number) => {
    const output = await runBatch(device, prepared, count);
    gpu.throwUncaptured();
    return output;
  };
  return createBatchEntry(run, products, {
    adapter: [vendor, architecture, name].filter(Boolean).join(" "),
    note: `${choice.variant.name} ${JSON.stringify(choice.axes)}`,
  });
};

async function runBatch(device: GPUDevice, prepared: PreparedKernel, products: number): Promise<Float32Array> {
  device.queue.submit(Array.from({ length: products }, () => prepared.encode()));
  return (await prepared.read("c")) as Float32Array;
}

/** Tries every variant with every value of its axes, as the tuner will: the best of two runs each. */
async function findFastest(context: KernelContext, size: number): Promise<Trial> {
  const inputs = createMatrices(size);
  let best: Trial | null = null;
  for (const choice of listChoices(size)) {
    const prepared = await prepareKernel(context, choice, inputs);
    await runBatch(context.device, prepared, 1);
    let ms = await timeOne(context.device, prepared);
    if (best === null || ms < HOPELESS * best.ms) ms = Math.min(ms, await timeOne(context.device, prepared));
    if (best === null || ms < best.ms) {
      best?.prepared.release();
      best = { choice, prepared, ms };
    } else prepared.release();
  }
  if (best === null) throw new Error("the kernel has no variants");
  return best;
}

async function timeOne(device: GPUDevice, prepared: PreparedKernel): Promise<number> {
  const startedAt = performance.now();
  await runBatch(device, prepared, 1);
  return performance.now() - startedAt;
}

function listChoices(size: number): KernelChoice[] {
  return gemm.variants.flatMap((variant) => {
    let settings: Record<string, number>[] = [{}];
    for (const { name, values } of variant.axes) {
      settings = settings.flatMap((chosen) => values.map((value) => ({ ...chosen, [name]: value })));
    }
    return settings.map((axes) => ({ kernel: gemm, variant, shape: shapeOf(size), axes }));
  });
}
