import type { KernelHealth } from "../../protocol/fleet/health.ts";
import type { ThroughputResult, ThroughputSpec } from "../../protocol/jobs/throughput.ts";
import type { WorkOptions } from "../device-host/device-host.ts";
import { withFaults } from "./steps/benchmark-on-device.ts";
import type { Workload } from "./kind.ts";
import { describeEnvironment, writeSamples } from "./steps/describe-run.ts";

/** Keeps the device that has the kernel busy, and measures its sustained throughput. */
export const runThroughput: Workload<ThroughputSpec> = async (
  spec,
  { fleet, otherJobs, signal, onProgress, scope },
) => {
  const { kernel, timeoutMs } = spec;
  const { host } = fleet.withKernel(kernel, spec);
  const environment = describeEnvironment(host.device, otherJobs);
  const run = (options: WorkOptions) => host.work("stream", { spec }, timeoutMs, options);
  const { output, faults } = await fleet.guard.run(host, { kernel, timeoutMs, signal, onProgress, scope, run });
  const { latenciesMs, ...measured } = output;
  return {
    result: { kind: "throughput", ...withFaults({ ...measured, environment }, faults) },
    deviceKey: host.device.key,
    samplesText: writeSamples(kernel, [{ metric: "submissionMs", clock: "runner-wall", valuesMs: latenciesMs }]),
  };
};

/** Health of a kernel that was kept busy; only the GPU's own clock measures its idle time. */
export function healthOfThroughput(
  { kernel, busyShare, clock, submissionsPerSecond }: ThroughputResult,
  at: string,
): KernelHealth {
  return {
    at,
    kernel,
    occupancyShare: null,
    bandwidthShare: null,
    arithmeticShare: null,
    submissionsPerSecond,
    synchronisationShare: clock === "gpu-timestamp" ? Math.max(0, 1 - busyShare) : null,
  };
}
