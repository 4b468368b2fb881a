import type { ThroughputSpec } from "../../protocol/throughput.ts";
import { describeEnvironment } from "./describe-environment.ts";
import type { Workload } from "./workload.ts";

/** Keeps the device that has the kernel busy, and measures what it bears. */
export const runThroughput: Workload<ThroughputSpec> = async (spec, { fleet, otherJobs, signal, onProgress }) => {
  const { host } = fleet.withKernel(spec.kernel);
  const environment = describeEnvironment(host.device, otherJobs);
  const measured = await host.work("stream", { spec }, spec.timeoutMs, { onProgress, signal });
  return { result: { kind: "throughput", ...measured, environment }, deviceKey: host.device.key };
};
