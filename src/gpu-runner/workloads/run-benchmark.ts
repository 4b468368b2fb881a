import type { BenchmarkSpec } from "../../protocol/benchmark.ts";
import { describeEnvironment } from "./describe-environment.ts";
import type { Workload } from "./workload.ts";

/** Checks and times a kernel in the process of the device that has it. */
export const runBenchmark: Workload<BenchmarkSpec> = async (spec, { fleet, otherJobs, signal, onProgress }) => {
  const { host } = fleet.withKernel(spec.kernel);
  const environment = describeEnvironment(host.device, otherJobs);
  const measured = await host.benchmark(spec, { onProgress, signal });
  return { result: { kind: "benchmark", ...measured, environment }, deviceKey: host.device.key };
};
