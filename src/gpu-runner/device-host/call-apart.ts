import type { BenchmarkSpec } from "../../protocol/jobs/benchmark.ts";
import type { KernelProgram } from "../../protocol/kernels/kernel-definition.ts";
import { type ProblemCode, ProblemError } from "../../protocol/wire/problem.ts";
import { type CallOptions, type ChildOptions, DeviceChild } from "./device-child.ts";
import type { DeviceCallName, DeviceCalls, DeviceDescription } from "./messages.ts";

const DESCRIBE = { limitMs: 30_000, limitCode: "device-lost" } as const;

/**
 * Makes one call in a device process of its own, which has ended before this settles. The call shares no buffers or
 * pipelines with others and leaves nothing behind.
 * The process trusts the `known` description of the device. Fails like the call, and with `died` where the process died
 * of it. An abort ends the process at once.
 */
export async function callApart<Name extends DeviceCallName>(
  options: Omit<ChildOptions, "onEnd">,
  known: DeviceDescription,
  name: Name,
  input: DeviceCalls[Name]["input"],
  call: CallOptions,
  died: ProblemCode,
): Promise<DeviceCalls[Name]["output"]> {
  const child = new DeviceChild({ ...options, onEnd: () => undefined });
  try {
    await child.call("describe", { deviceKey: options.deviceKey, known }, { ...DESCRIBE, signal: call.signal });
    return await child.call(name, input, call).catch((error: unknown) => {
      if (!(error instanceof ProblemError) || error.problem.code !== "device-lost") throw error;
      throw new ProblemError(died, `${error.problem.detail} under this call`);
    });
  } finally {
    child.kill();
    await child.exited;
  }
}

/** Time limit of a benchmark, in milliseconds: a submitted kernel has a limit of its own beside the job's. */
export function timeoutOf({ timeoutMs }: BenchmarkSpec, program: KernelProgram | null): number {
  return Math.min(timeoutMs, program?.definition.limits.timeoutMs ?? timeoutMs);
}
