import type { KernelShape, KernelSpec } from "../kernels/kernel-spec.ts";
import { KERNELS } from "../kernels/registry.ts";
import { BufferPool } from "../src/gpu-runner/devices/gpu/buffer-pool.ts";
import { type Gpu, openGpu } from "../src/gpu-runner/devices/gpu/device.ts";
import type { KernelContext } from "../src/gpu-runner/kernels/dispatch/dispatch.ts";
import { PipelineCache } from "../src/gpu-runner/devices/gpu/pipeline-cache.ts";
import { isEmulated } from "../src/gpu-runner/host/hardware/device-names.ts";
import { probeGpu } from "../src/gpu-runner/kernels/describe-gpu.ts";
import { type KernelChoice, resolveBenchmark } from "../src/gpu-runner/kernels/dispatch/resolve-benchmark.ts";
import { suitDevice } from "../src/gpu-runner/kernels/dispatch/suit-device.ts";
import { tuneKernel } from "../src/gpu-runner/kernels/tuning/tune-kernel.ts";
import { KernelTuningSpec } from "../src/protocol/jobs/tuning.ts";
import type { Opened } from "./contest.ts";
import { SEED } from "./kernel-at-shape.ts";

/** Device of our contenders for kernels, in its own process. */
export interface OwnGpu extends KernelContext {
  readonly gpu: Gpu;
  /** With the defaults that the product has on this device. */
  readonly kernels: ReadonlyMap<string, KernelSpec>;
}

/** A bench has half a dozen cases. */
const TUNING = { budgetMs: 10_000, seed: SEED };

export async function openOwnGpu(): Promise<OwnGpu> {
  const gpu = await openGpu((reason) => {
    throw new Error(`the device was lost: ${reason}`);
  });
  const { device } = gpu;
  const context = { device, pipelines: new PipelineCache(device), pool: new BufferPool(device) };
  return { ...context, gpu, kernels: suitDevice(KERNELS, { software: isEmulated(gpu.adapter.info) }) };
}

/** Choice of the product's own search for a kernel at a shape. */
export async function tuneChoice(own: OwnGpu, kernel: string, shape: KernelShape): Promise<KernelChoice> {
  const description = await probeGpu(own.gpu, own, "gpu0");
  const spec = KernelTuningSpec.parse({ kind: "tuning", kernel, shape, ...TUNING });
  const search = { onProgress: () => {}, signal: new AbortController().signal };
  const { variant, axes } = (await tuneKernel({ ...own, description }, spec, search)).tuning.best;
  return resolveBenchmark(own.kernels, { kernel, shape, variant }, axes);
}

/** Description of our contender in a row: the device and the kernel's choice. */
export function describeChoice({ gpu }: OwnGpu, { variant, axes }: KernelChoice): Omit<Opened, "output"> {
  const { vendor, architecture, device } = gpu.adapter.info;
  return {
    adapter: [vendor, architecture, device].filter(Boolean).join(" "),
    note: `${variant.name} ${JSON.stringify(axes)}`,
  };
}
