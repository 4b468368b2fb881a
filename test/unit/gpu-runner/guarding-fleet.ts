import { tmpdir } from "node:os";
import { join } from "node:path";
import { FailureFile } from "../../../src/gpu-runner/device-host/failure-file.ts";
import { KernelGuard } from "../../../src/gpu-runner/device-host/kernel-guard.ts";

/** What a fleet does around the devices that a test plays: a real guard, which keeps nothing on the disk. */
export function createGuarding() {
  const failures = new FailureFile(join(tmpdir(), "millrace-no-folder"), { warn: () => undefined });
  return {
    guard: new KernelGuard(failures, () => undefined),
    use: (_device: unknown, work: () => Promise<unknown>) => work(),
    noteSpeed: () => undefined,
  };
}
