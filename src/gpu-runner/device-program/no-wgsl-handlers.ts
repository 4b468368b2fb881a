import { ProblemError } from "../../protocol/wire/problem.ts";
import type { DeviceHandlers } from "../device-host/messages.ts";
import { measureMemory } from "../devices/ort/measure-memory.ts";
import { measureStart } from "../devices/ort/measure-start.ts";
import { tryModel } from "../devices/ort/try-model.ts";
import type { OrtBackend } from "../devices/ort/ort-backend.ts";

/** Answers the calls about models by ONNX Runtime. */
export function createModelHandlers(ort: OrtBackend): Pick<DeviceHandlers, Exclude<OwnCall, "probe">> {
  return {
    loadModel: ({ modelKey, model, threads }) => ort.load(modelKey, model, threads),
    unloadModel: async ({ modelKey }) => {
      await ort.unload(modelKey);
      return null;
    },
    measureMemory: ({ model, batches, threads }) => measureMemory(ort, model, batches, threads),
    measureStart: ({ model, tensors, threads }) => measureStart(ort, model, tensors, threads),
    tryModel: ({ model, tensors, threads }) => tryModel(ort, model, tensors, threads),
    infer: ({ modelKey, tensors }) => ort.run(modelKey, tensors),
  };
}

type OwnCall = "probe" | "loadModel" | "unloadModel" | "measureMemory" | "measureStart" | "tryModel" | "infer";

/** Answers of a process that runs no WGSL and keeps no buffers. */
export const noWgslHandlers: Omit<DeviceHandlers, "describe" | OwnCall> = {
  warm: async () => null,
  benchmark: runsNoWgsl,
  stream: runsNoWgsl,
  benchmarkProgram: runsNoWgsl,
  measureRoofline: async () => {
    throw new ProblemError("backend-failed", "This process runs no WGSL, so it has no roofs to measure");
  },
  tune: runsNoWgsl,
  tuneNetwork: () => Promise.reject(new ProblemError("backend-failed", "This process runs no WGSL")),
  openKernel: runsNoWgsl,
  runKernel: keepsNothing,
  closeKernel: async () => null,
  compute: keepsNothing,
  rollOut: hasNoEnvironments,
  rollOutKept: hasNoEnvironments,
  tryRollOut: hasNoEnvironments,
  train: hasNoEnvironments,
  replay: hasNoEnvironments,
  compress: compressesNothing,
  reference: runsNoWgsl,
  putResident: keepsNothing,
  readResident: keepsNothing,
  dropResident: keepsNothing,
  readPool: async () => null,
  freeIdle: async () => 0,
  readResidentSet: async () => process.memoryUsage.rss(),
};

async function runsNoWgsl({ spec }: { spec: { kernel: string } }): Promise<never> {
  const errors = [{ pointer: "#/kernel", message: `'${spec.kernel}' needs a device that runs WGSL` }];
  throw new ProblemError("unknown-kernel", "This process runs no WGSL", { errors });
}

async function keepsNothing(): Promise<never> {
  throw new ProblemError("backend-failed", "This process keeps no buffers");
}

async function compressesNothing(): Promise<never> {
  throw new ProblemError("backend-failed", "Networks are compressed by the CPU process");
}

async function hasNoEnvironments(): Promise<never> {
  throw new ProblemError("backend-failed", "This process rolls no policies out");
}
