import type { KernelSpec } from "../../../kernels/kernel-spec.ts";
import { KERNELS } from "../../../kernels/registry.ts";
import { ProblemError } from "../../protocol/wire/problem.ts";
import { announceKernels, digestKernel } from "../kernels/dispatch/kernel-sources.ts";
import { suitDevice } from "../kernels/dispatch/suit-device.ts";
import { benchmarkProgram } from "../kernels/benchmark/benchmark-program.ts";
import { BufferPool } from "../devices/gpu/buffer-pool.ts";
import { computeKernel } from "../kernels/compute-kernel.ts";
import { type Gpu, listAdapters } from "../devices/gpu/device.ts";
import { benchmarkWithinMemory } from "../kernels/benchmark/fit-batch.ts";
import { OpenKernels } from "../kernels/open-kernels.ts";
import { PipelineCache, type UsedPipeline, warmPipelines } from "../devices/gpu/pipeline-cache.ts";
import { probeGpu } from "../kernels/describe-gpu.ts";
import { ResidentBuffers } from "../devices/gpu/resident-buffers.ts";
import { measureRoofline } from "../kernels/roofline/roofline.ts";
import { streamKernel } from "../kernels/throughput/stream-kernel.ts";
import { tuneKernel } from "../kernels/tuning/tune-kernel.ts";
import { probeGpuClaims } from "../kinds/probe/probe-gpu.ts";
import { openEnvironment } from "../environments/environment-source.ts";
import { openGpuPopulation } from "../rollout/gpu/open-gpu-population.ts";
import { replayEnvironment } from "../environments/replay-environment.ts";
import { KeptPopulation, rollOutOnce, tryRollOut } from "../rollout/roll-out.ts";
import { tuneNetwork } from "../networks/tune-network.ts";
import { WgslBackend } from "../networks/wgsl-backend.ts";
import { runTrain } from "../training/train-call.ts";
import type { DeviceDescription, DeviceHandlers } from "../device-host/messages.ts";

/**
 * Serves the calls of an open GPU; the caller sends one piece of work at a time. `memoryBytes` limits the total size of
 * its buffers; `onUsed` receives every pipeline that a call wanted.
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
  const opened = new OpenKernels();
  const traffic = { dispatches: 0, uploadedBytes: 0, readBackBytes: 0 };
  let description: DeviceDescription | null = null;
  // Pipelines that only the first life's probe uses are not noted: no later life needs them.
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
    return { ...context, gpu, kernels: suitDevice(kernels, description.device), description: description.device };
  };
  const models = new WgslBackend(gpu, context);
  const kept = new KeptPopulation(({ environment, network, members }) =>
    openGpuPopulation(context, { environment: openEnvironment(environment), network, members }),
  );

  return {
    describe: async ({ deviceKey, known }) => (description ??= known ?? (await describe(deviceKey))),
    warm: async ({ pipelines }) => warmPipelines(context.pipelines, kernels, pipelines),
    benchmark: async ({ spec, axes }, options) => benchmarkWithinMemory(target(), spec, { axes, ...options }),
    stream: async ({ spec }, options) => streamKernel(target(), spec, options),
    benchmarkProgram: async ({ spec, program }, options) => benchmarkProgram(target(), spec, program, options),
    measureRoofline: async ({ budgetMs }, options) => measureRoofline(target(), { budgetMs, ...options }),
    tune: async ({ spec, settings }, options) =>
      tuneKernel(target(), spec, { ...options, ...(settings && { settings }) }),
    tuneNetwork: async (request, options) => tuneNetwork(context, request, options),
    openKernel: async ({ kernelKey, spec, axes }, options) => opened.open(target(), kernelKey, spec, axes, options),
    runKernel: async ({ kernelKey, dispatches }) => {
      await opened.run(target(), kernelKey, dispatches);
      return null;
    },
    closeKernel: async ({ kernelKey }) => {
      opened.close(kernelKey);
      return null;
    },
    compute: async (request) => computeKernel({ ...target(), residents }, request),
    probe: async ({ claimed }, options) => probeGpuClaims(target(), claimed, options),
    rollOut: async ({ environment, network, members, ...request }, { signal, onProgress }) => {
      const plan = { environment: openEnvironment(environment), network, members };
      const population = await openGpuPopulation(context, plan);
      const report = (done: number, total: number) => onProgress({ phase: "roll-out", done, total });
      return rollOutOnce(population, request, { signal, onProgress: report });
    },
    rollOutKept: (request, { signal }) => kept.rollOut(request, { signal }),
    tryRollOut: async ({ environment, network, ...request }, { signal }) => {
      const spec = openEnvironment(environment);
      const open = (members: number) => openGpuPopulation(context, { environment: spec, network, members });
      return tryRollOut(open, { environment, network, ...request }, { signal });
    },
    train: async (input, options) => runTrain((request) => openGpuPopulation(context, request), input, options),
    replay: async ({ environment, ...request }) => replayEnvironment(context, openEnvironment(environment), request),
    reference: () => Promise.reject(new ProblemError("backend-failed", "References are computed by the CPU process")),
    compress: () => Promise.reject(new ProblemError("backend-failed", "Networks are compressed by the CPU process")),
    loadModel: ({ modelKey, model, threads, layouts }) =>
      models.load(modelKey, model, { threads, ...(layouts && { layouts }) }),
    unloadModel: async ({ modelKey }) => {
      models.unload(modelKey);
      return null;
    },
    measureMemory: ({ model, batches }) => models.measureMemory(model, batches),
    measureStart: ({ model, tensors }) => models.measureStart(model, tensors),
    tryModel: async ({ model, tensors }) => {
      await models.measureStart(model, tensors);
      return null;
    },
    infer: ({ modelKey, tensors }) => models.run(modelKey, tensors),
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
    readResidentSet: async () => process.memoryUsage.rss(),
    readPool: async () => ({ ...pool.counters, capBytes: Math.min(pool.capBytes, Number.MAX_SAFE_INTEGER) }),
  };
}
