import { tmpdir } from "node:os";
import { join } from "node:path";
import { FailureFile } from "../../../src/gpu-runner/device-host/failure-file.ts";
import { KernelGuard } from "../../../src/gpu-runner/device-host/kernel-guard.ts";

/** Surroundings of a test's devices: a real guard, which stores nothing on the disk. */
export function createGuarding() {
  const failures = new FailureFile(join(tmpdir(), "millrace-no-folder"), { warn: () => undefined });
  return {
    guard: new KernelGuard(failures, () => undefined),
    use: (_device: unknown, work: () => Promise<unknown>) => work(),
    noteSpeed: () => undefined,
  };
}
