import type { BenchmarkSpec } from "../../protocol/benchmark.ts";
import type { KernelProgram } from "../../protocol/kernel-definition.ts";

/** How long a benchmark may take, in milliseconds: a submitted kernel has a limit of its own beside the job's. */
export function timeoutOf({ timeoutMs }: BenchmarkSpec, program: KernelProgram | null): number {
  return Math.min(timeoutMs, program?.definition.limits.timeoutMs ?? timeoutMs);
}
