import type { BenchmarkSpec } from "../../protocol/benchmark.ts";
import { describeEnvironment } from "./describe-environment.ts";
import type { Workload } from "./workload.ts";

/** Checks and times a kernel in the process of the device that has it; a submitted one in a process of its own. */
export const runBenchmark: Workload<BenchmarkSpec> = async (spec, context) => {
  const { fleet, program, otherJobs, signal, onProgress } = context;
  const { host } = program === null ? fleet.withKernel(spec.kernel) : fleet.forProgram(program);
  const environment = describeEnvironment(host.device, otherJobs);
  const options = { onProgress, signal };
  const measured =
    program === null ? await host.benchmark(spec, options) : await host.benchmarkProgram(spec, program, options);
  return { result: { kind: "benchmark", ...measured, environment }, deviceKey: host.device.key };
};
