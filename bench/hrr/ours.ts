import { hrrBind } from "../../kernels/hrr-bind/hrr-bind.kernel.ts";
import { BufferPool } from "../../src/gpu-runner/gpu/buffer-pool.ts";
import { openGpu } from "../../src/gpu-runner/gpu/device.ts";
import { type KernelContext, type PreparedKernel, prepareKernel } from "../../src/gpu-runner/gpu/dispatch.ts";
import { PipelineCache } from "../../src/gpu-runner/gpu/pipeline-cache.ts";
import type { KernelChoice } from "../../src/gpu-runner/gpu/resolve-benchmark.ts";
import type { Contender } from "../contest.ts";
import { createBindEntry, createVectors, type HrrCase, SEED, type Vectors } from "./hrr-case.ts";

/** So many values of a are bound to choose by: what is hopeless on a device can take it minutes for all of a case. */
const TRIAL_VALUES = 2 ** 16;

/** The product's own kernel through the product's own dispatch; vectors go up and results come back each time. */
export const contender: Contender<HrrCase> = async (shape) => {
  const gpu = await openGpu((reason) => {
    throw new Error(`the device was lost: ${reason}`);
  });
  const { device } = gpu;
  const context = { device, pipelines: new PipelineCache(device), pool: new BufferPool(device) };
  const choice = { ...(await findFastest(context, shape)), shape: { ...shape } };
  const vectors = createVectors(shape);
  const prepared = await prepareKernel(context, choice, hrrBind.generate(choice.shape, SEED));
  const { vendor, architecture, device: name } = gpu.adapter.info;
  const run = async () => {
    const output = await bind(device, prepared, vectors);
    gpu.throwUncaptured();
    return output;
  };
  return createBindEntry(run, shape, {
    adapter: [vendor, architecture, name].filter(Boolean).join(" "),
    note: `${choice.variant.name} ${JSON.stringify(choice.axes)}`,
  });
};

async function bind(device: GPUDevice, prepared: PreparedKernel, { a, b }: Vectors): Promise<Float32Array> {
  prepared.upload({ a, b });
  device.queue.submit([prepared.encode()]);
  return (await prepared.read("c")) as Float32Array;
}

/** Tries every variant that takes the shape with every value of its axes, as the tuner will: the best of three runs each. */
async function findFastest(context: KernelContext, { dimension, pairs }: HrrCase): Promise<KernelChoice> {
  const shape = { dimension, pairs: Math.min(pairs, Math.ceil(TRIAL_VALUES / dimension)) };
  const vectors = createVectors(shape);
  let best: { readonly choice: KernelChoice; readonly ms: number } | null = null;
  for (const choice of listChoices(shape)) {
    const prepared = await prepareKernel(context, choice, hrrBind.generate(shape, SEED));
    const durationsMs: number[] = [];
    for (let run = 0; run < 3; run++) {
      const startedAt = performance.now();
      await bind(context.device, prepared, vectors);
      durationsMs.push(performance.now() - startedAt);
    }
    prepared.release();
    const ms = Math.min(...durationsMs);
    if (best === null || ms < best.ms) best = { choice, ms };
  }
  if (best === null) throw new Error("no variant takes this shape");
  return best.choice;
}

function listChoices(shape: Record<"pairs" | "dimension", number>): KernelChoice[] {
  // The definition itself costs the square of d, so it is no candidate.
  const variants = hrrBind.variants.filter((variant) => variant.name !== "direct" && (variant.takes?.(shape) ?? true));
  return variants.flatMap((variant) =>
    variant.axes.flatMap(({ name, values }) =>
      values.map((value) => ({ kernel: hrrBind, variant, shape, axes: { [name]: value } })),
    ),
  );
}
