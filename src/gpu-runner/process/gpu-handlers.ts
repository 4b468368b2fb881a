import type { KernelSpec } from "../../../kernels/kernel-spec.ts";
import { KERNELS } from "../../../kernels/registry.ts";
import { ProblemError } from "../../protocol/problem.ts";
import { announceKernels } from "../gpu/announce-kernels.ts";
import { benchmarkProgram } from "../gpu/benchmark-program.ts";
import { BufferPool } from "../gpu/buffer-pool.ts";
import type { Gpu } from "../gpu/device.ts";
import { digestKernel } from "../gpu/digest-kernel.ts";
import { benchmarkWithinMemory } from "../gpu/fit-batch.ts";
import { listAdapters } from "../gpu/list-adapters.ts";
import { PipelineCache } from "../gpu/pipeline-cache.ts";
import { probeGpu } from "../gpu/probe.ts";
import { ResidentBuffers } from "../gpu/resident-buffers.ts";
import { measureRoofline } from "../gpu/roofline.ts";
import { streamKernel } from "../gpu/stream-kernel.ts";
import { tuneKernel } from "../gpu/tune-kernel.ts";
import { warmPipelines } from "../gpu/warm-pipelines.ts";
import type { DeviceDescription, DeviceHandlers, UsedPipeline } from "./messages.ts";

/**
 * Serves the calls of an open GPU; the caller sends one piece of work at a time. `memoryBytes` caps what
 * its buffers take in all; `onUsed` is told of every pipeline that a call wanted.
 */
export function createGpuHandlers(
  gpu: Gpu,
  {
    kernels = KERNELS,
    memoryBytes,
    onUsed,
  }: {
    readonly kernels?: ReadonlyMap<string, KernelSpec>;
    readonly memoryBytes?: number;
    readonly onUsed: (pipeline: UsedPipeline) => void;
  },
): DeviceHandlers {
  const { device } = gpu;
  const pool = new BufferPool(device, undefined, memoryBytes);
  const residents = new ResidentBuffers(device, pool);
  const traffic = { dispatches: 0, uploadedBytes: 0, readBackBytes: 0 };
  let description: DeviceDescription | null = null;
  // What the probe of a first life uses, no later one needs.
  const noteUsed = (pipeline: UsedPipeline) => description !== null && onUsed(pipeline);
  const context = { device, pipelines: new PipelineCache(device, noteUsed), pool, traffic };

  const describe = async (deviceKey: string): Promise<DeviceDescription> => {
    const digests = [...kernels.values()].map(async (kernel) => [kernel.name, await digestKernel(kernel)] as const);
    return {
      device: await probeGpu(gpu, context, deviceKey),
      kernels: announceKernels(kernels),
      kernelDigests: Object.fromEntries(await Promise.all(digests)),
      adapters: await listAdapters(),
    };
  };
  const target = () => {
    if (description === null) throw new TypeError("describe comes first");
    return { ...context, gpu, kernels, description: description.device };
  };
  const servesNoModels = () => Promise.reject(new ProblemError("backend-failed", "The GPU process serves no models"));

  return {
    describe: async ({ deviceKey, known }) => (description ??= known ?? (await describe(deviceKey))),
    warm: async ({ pipelines }) => warmPipelines(context.pipelines, kernels, pipelines),
    benchmark: async ({ spec, axes }, options) => benchmarkWithinMemory(target(), spec, { axes, ...options }),
    stream: async ({ spec }, options) => streamKernel(target(), spec, options),
    benchmarkProgram: async ({ spec, program }, options) => benchmarkProgram(target(), spec, program, options),
    measureRoofline: async ({ budgetMs }, options) => measureRoofline(target(), { budgetMs, ...options }),
    tune: async ({ spec, settings }, options) =>
      tuneKernel(target(), spec, { ...options, ...(settings && { settings }) }),
    reference: () => Promise.reject(new ProblemError("backend-failed", "References are computed by the CPU process")),
    loadModel: servesNoModels,
    unloadModel: servesNoModels,
    measureMemory: servesNoModels,
    infer: servesNoModels,
    putResident: async ({ key, bytes }) => {
      await residents.put(key, bytes);
      return null;
    },
    readResident: ({ key }) => residents.read(key),
    dropResident: async ({ key }) => {
      residents.drop(key);
      return null;
    },
    freeIdle: async () => {
      pool.destroy();
      return pool.counters.liveBytes;
    },
    readPool: async () => ({ ...pool.counters, capBytes: Math.min(pool.capBytes, Number.MAX_SAFE_INTEGER) }),
  };
}
