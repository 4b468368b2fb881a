import { cpus, totalmem } from "node:os";
import { env } from "onnxruntime-node";
import type { Device } from "../../protocol/hardware.ts";
import { ProblemError } from "../../protocol/problem.ts";
import { benchmarkPopulation, SIMD_KERNELS } from "../cpu-simd/benchmark-population.ts";
import { locateAssembly } from "../cpu-simd/locate-assembly.ts";
import { announceKernels } from "../gpu/announce-kernels.ts";
import { OrtCpuBackend } from "../serving/backends/ort-cpu.ts";
import type { DeviceHandlers } from "./messages.ts";

/** Serves models on this process's CPU. */
export function createCpuHandlers(): DeviceHandlers {
  const ort = new OrtCpuBackend();
  const keepsNothing = () => Promise.reject(new ProblemError("backend-failed", "The CPU's process keeps no buffers"));
  return {
    describe: async ({ deviceKey }) => ({
      device: describeCpu(deviceKey),
      kernels: announceKernels(SIMD_KERNELS),
      kernelDigests: await digestAssemblies(),
      adapters: [],
    }),
    warm: async () => null,
    benchmark: ({ spec }, options) => benchmarkPopulation(spec, options),
    stream: runsNoWgsl,
    benchmarkProgram: runsNoWgsl,
    measureRoofline: async () => {
      throw new ProblemError("backend-failed", "The CPU process runs no WGSL, so it has no roofs to measure");
    },
    tune: runsNoWgsl,
    reference: async ({ spec }, options) => {
      // Seldom wanted, and what it needs would make every start slower.
      const [{ KERNELS }, { benchmarkReference }] = await Promise.all([
        import("../../../kernels/registry.ts"),
        import("../gpu/benchmark-reference.ts"),
      ]);
      return benchmarkReference(KERNELS, spec, options);
    },
    loadModel: ({ modelKey, model }) => ort.load(modelKey, model),
    unloadModel: async ({ modelKey }) => {
      await ort.unload(modelKey);
      return null;
    },
    infer: ({ modelKey, tensors }) => ort.run(modelKey, tensors),
    putResident: keepsNothing,
    readResident: keepsNothing,
    dropResident: keepsNothing,
    readPool: async () => null,
    freeIdle: async () => 0,
  };
}

function runsNoWgsl({ spec }: { spec: { kernel: string } }): Promise<never> {
  const errors = [{ pointer: "#/kernel", message: `'${spec.kernel}' needs a GPU device` }];
  return Promise.reject(new ProblemError("unknown-kernel", `The CPU process runs no WGSL`, { errors }));
}

/** By kernel, as a GPU's process has those of its kernels' files. */
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
      ort: env.versions.node ? `onnxruntime-node ${env.versions.node}` : null,
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
