import type { BenchmarkSpec } from "../../../protocol/jobs/benchmark.ts";
import type { Fault } from "../../../protocol/wire/fault.ts";
import type { FleetDevice } from "../../serving/device-fleet.ts";
import type { BenchmarkMeasurement } from "../../kernels/benchmark/benchmark-kernel.ts";
import type { WorkOptions } from "../../device-host/device-host.ts";
import { timeoutOf } from "../../device-host/call-apart.ts";
import type { WorkloadContext } from "../kind.ts";

/**
 * Runs a benchmark on one device under the guard, and records its speed.
 * A submitted kernel runs in a process of its own, without a record.
 */
export async function benchmarkOnDevice(
  device: FleetDevice,
  spec: BenchmarkSpec,
  {
    fleet,
    program,
    onProgress,
    signal,
    scope,
  }: Pick<WorkloadContext, "fleet" | "program" | "onProgress" | "signal" | "scope">,
): Promise<BenchmarkMeasurement> {
  const { kernel } = spec;
  const { host } = device;
  const timeoutMs = timeoutOf(spec, program);
  const run = (options: WorkOptions) =>
    program === null ? host.benchmark(spec, options) : host.benchmarkProgram(spec, program, options);
  const { output, faults } = await fleet.guard.run(host, { kernel, timeoutMs, signal, onProgress, scope, run });
  // Submitted kernels are unbounded in number, while announcements are bounded.
  if (program === null) fleet.noteSpeed(device, kernel, output.gigabytesPerSecond);
  return withFaults(output, faults);
}

/** Adds the faults recovered before a result, in order. */
export function withFaults<Output extends { faults?: Fault[] | undefined }>(
  output: Output,
  faults: readonly Fault[],
): Output {
  return faults.length === 0 ? output : { ...output, faults: [...faults, ...(output.faults ?? [])] };
}
