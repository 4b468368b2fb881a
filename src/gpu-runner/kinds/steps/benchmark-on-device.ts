import type { BenchmarkSpec } from "../../../protocol/jobs/benchmark.ts";
import type { Fault } from "../../../protocol/wire/fault.ts";
import type { FleetDevice } from "../../serving/device-fleet.ts";
import type { BenchmarkMeasurement } from "../../kernels/benchmark/benchmark-kernel.ts";
import type { WorkOptions } from "../../device-host/device-host.ts";
import { timeoutOf } from "../../device-host/call-apart.ts";
import type { WorkloadContext } from "../kind.ts";

/** Runs a benchmark on one device, under the guard, and notes how fast it was; a submitted kernel in a process of its own, and not noted. */
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
  // Users submit kernels without end; what is announced is bounded.
  if (program === null) fleet.noteSpeed(device, kernel, output.gigabytesPerSecond);
  return withFaults(output, faults);
}

/** A result with what was mended before it, in order. */
export function withFaults<Output extends { faults?: Fault[] | undefined }>(
  output: Output,
  faults: readonly Fault[],
): Output {
  return faults.length === 0 ? output : { ...output, faults: [...faults, ...(output.faults ?? [])] };
}
