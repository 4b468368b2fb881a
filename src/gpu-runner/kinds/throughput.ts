import type { ThroughputSpec } from "../../protocol/jobs/throughput.ts";
import type { WorkOptions } from "../device-host/device-host.ts";
import { withFaults } from "./benchmark-on-device.ts";
import { describeEnvironment, type Workload, writeSamples } from "./kind.ts";

/** Keeps the device that has the kernel busy, and measures what it bears. */
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
