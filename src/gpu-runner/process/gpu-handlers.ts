import { KERNELS } from "../../../kernels/registry.ts";
import type { Device } from "../../protocol/hardware.ts";
import { ProblemError } from "../../protocol/problem.ts";
import { announceKernels } from "../gpu/announce-kernels.ts";
import { benchmarkKernel } from "../gpu/benchmark-kernel.ts";
import { benchmarkProgram } from "../gpu/benchmark-program.ts";
import { BufferPool } from "../gpu/buffer-pool.ts";
import { openGpu } from "../gpu/device.ts";
import { PipelineCache } from "../gpu/pipeline-cache.ts";
import { probeGpu } from "../gpu/probe.ts";
import { ResidentBuffers } from "../gpu/resident-buffers.ts";
import { measureRoofline } from "../gpu/roofline.ts";
import { streamKernel } from "../gpu/stream-kernel.ts";
import { tuneKernel } from "../gpu/tune-kernel.ts";
import type { DeviceHandlers } from "./messages.ts";

/**
 * Opens the GPU of this process and serves its calls; the caller sends one piece of work at a time.
 * `memoryBytes` caps what its buffers take in all.
 */
export async function createGpuHandlers(
  onLost: (reason: string) => void,
  memoryBytes: number | undefined,
): Promise<DeviceHandlers> {
  const gpu = await openGpu(onLost);
  const { device } = gpu;
  const pool = new BufferPool(device, undefined, memoryBytes);
  const residents = new ResidentBuffers(device, pool);
  const traffic = { dispatches: 0, uploadedBytes: 0, readBackBytes: 0 };
  const context = { device, pipelines: new PipelineCache(device), pool, traffic };
  let description: Device | null = null;

  const describe = async (deviceKey: string) => (description ??= await probeGpu(gpu, context, deviceKey));
  const servesNoModels = () => Promise.reject(new ProblemError("backend-failed", "The GPU process serves no models"));

  const target = () => {
    if (description === null) throw new TypeError("describe comes first");
    return { ...context, gpu, kernels: KERNELS, description };
  };

  return {
    describe: async ({ deviceKey }) => ({ device: await describe(deviceKey), kernels: announceKernels(KERNELS) }),
    benchmark: async ({ spec, axes }, options) => benchmarkKernel(target(), spec, { axes, ...options }),
    stream: async ({ spec }, options) => streamKernel(target(), spec, options),
    benchmarkProgram: async ({ spec, program }, options) => benchmarkProgram(target(), spec, program, options),
    measureRoofline: async ({ budgetMs }, options) => measureRoofline(target(), { budgetMs, ...options }),
    tune: async ({ spec, settings }, options) =>
      tuneKernel(target(), spec, { ...options, ...(settings && { settings }) }),
    loadModel: servesNoModels,
    unloadModel: servesNoModels,
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
    readPool: async () => ({ ...pool.counters, capBytes: Math.min(pool.capBytes, Number.MAX_SAFE_INTEGER) }),
  };
}
