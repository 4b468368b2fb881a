import type { BenchmarkSpec } from "../../protocol/benchmark.ts";
import type { Fault } from "../../protocol/fault.ts";
import type { FleetDevice } from "../device-fleet.ts";
import type { BenchmarkMeasurement } from "../gpu/benchmark-kernel.ts";
import type { WorkOptions } from "../process/device-host.ts";
import { timeoutOf } from "../process/timeout-of.ts";
import type { WorkloadContext } from "./workload.ts";

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
