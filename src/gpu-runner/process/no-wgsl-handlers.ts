import { ProblemError } from "../../protocol/problem.ts";
import type { DeviceHandlers } from "./messages.ts";

type ModelCall = "loadModel" | "unloadModel" | "measureMemory" | "infer";

/** What a process answers that runs no WGSL and keeps no buffers. */
export const noWgslHandlers: Omit<DeviceHandlers, "describe" | ModelCall> = {
  warm: async () => null,
  benchmark: runsNoWgsl,
  stream: runsNoWgsl,
  benchmarkProgram: runsNoWgsl,
  measureRoofline: async () => {
    throw new ProblemError("backend-failed", "This process runs no WGSL, so it has no roofs to measure");
  },
  tune: runsNoWgsl,
  reference: runsNoWgsl,
  putResident: keepsNothing,
  readResident: keepsNothing,
  dropResident: keepsNothing,
  readPool: async () => null,
  freeIdle: async () => 0,
};

async function runsNoWgsl({ spec }: { spec: { kernel: string } }): Promise<never> {
  const errors = [{ pointer: "#/kernel", message: `'${spec.kernel}' needs a device that runs WGSL` }];
  throw new ProblemError("unknown-kernel", "This process runs no WGSL", { errors });
}

async function keepsNothing(): Promise<never> {
  throw new ProblemError("backend-failed", "This process keeps no buffers");
}
