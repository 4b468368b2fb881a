import { cpus, totalmem } from "node:os";
import type { Device } from "../../protocol/fleet/hardware.ts";
import { benchmarkPopulation, SIMD_KERNELS } from "../kernels/benchmark/benchmark-population.ts";
import { locateAssembly } from "../devices/cpu-simd/load-assembly.ts";
import { OpenPopulations } from "../kernels/open-populations.ts";
import { announceKernels } from "../kernels/dispatch/kernel-sources.ts";
import { ORT_VERSION, OrtBackend } from "../devices/ort/ort-backend.ts";
import type { DeviceHandlers } from "../device-host/messages.ts";
import { createModelHandlers, noWgslHandlers } from "./no-wgsl-handlers.ts";

/** Serves models on this process's CPU. */
export function createCpuHandlers(): DeviceHandlers {
  const populations = new OpenPopulations();
  const ort = new OrtBackend("cpu");
  return {
    ...noWgslHandlers,
    ...createModelHandlers(ort),
    describe: async ({ deviceKey }) => ({
      device: describeCpu(deviceKey),
      kernels: announceKernels(SIMD_KERNELS),
      kernelDigests: await digestAssemblies(),
      adapters: [],
    }),
    probe: async ({ claimed, hardware }, options) => {
      const { probeCpuClaims } = await import("../kinds/probe/probe-cpu.ts");
      return probeCpuClaims(claimed, hardware, options);
    },
    benchmark: ({ spec }, options) => benchmarkPopulation(spec, options),
    openKernel: ({ kernelKey, spec }, options) => populations.open(kernelKey, spec, options),
    runKernel: async ({ kernelKey, dispatches }) => {
      await populations.run(kernelKey, dispatches);
      return null;
    },
    closeKernel: async ({ kernelKey }) => {
      await populations.close(kernelKey);
      return null;
    },
    rollOut: async (input, context) => (await loadRollouts()).rollOut(input, context),
    tryRollOut: async (input, context) => (await loadRollouts()).tryRollOut(input, context),
    train: async (input, context) => (await loadRollouts()).train(input, context),
    replay: async (input, context) => (await loadRollouts()).replay(input, context),
    compress: async (request, options) => {
      const [{ compress }, { openByOrt }] = await Promise.all([
        import("../compression/variants/compress-call.ts"),
        import("../compression/variants/ask-network.ts"),
      ]);
      return compress(request, openByOrt(ort), options);
    },
    reference: async ({ spec }, options) => {
      // Loaded only on demand: rarely needed, and its imports would slow every start.
      const [{ KERNELS }, { benchmarkReference }] = await Promise.all([
        import("../../../kernels/registry.ts"),
        import("../kernels/benchmark/benchmark-reference.ts"),
      ]);
      return benchmarkReference(KERNELS, spec, options);
    },
  };
}

/** Loaded only on demand, too. */
async function loadRollouts() {
  const { cpuRolloutHandlers } = await import("./cpu-rollout-handlers.ts");
  return cpuRolloutHandlers;
}

/** Digests of the CPU kernels' assemblies, by kernel; a GPU's process has digests of its kernels' files. */
async function digestAssemblies(): Promise<Record<string, string>> {
  const names = [...SIMD_KERNELS.keys()];
  return Object.fromEntries(await Promise.all(names.map(async (name) => [name, (await locateAssembly(name)).digest])));
}

function describeCpu(key: string): Device {
  const model = cpus()[0]?.model.trim() ?? "unknown";
  return {
    key,
    kind: "cpu",
    name: model,
    software: false,
    fingerprint: {
      adapter: null,
      driver: null,
      dawn: null,
      toggles: [],
      ort: ORT_VERSION,
      cpu: model,
    },
    backends: ["ort-cpu", "cpu-simd"],
    features: [],
    limits: {},
    memoryBytes: totalmem(),
    timestampQuantised: null,
    roofline: null,
  };
}
