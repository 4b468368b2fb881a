import type { BenchmarkSpec } from "../../protocol/benchmark.ts";
import { locateUnderRoof } from "../gpu/locate-under-roof.ts";
import { describeEnvironment } from "./describe-environment.ts";
import type { Workload } from "./workload.ts";

/**
 * Checks and times a kernel in the process of the device that has it, a submitted one in a process of its own,
 * then places it under the device's roofs. Those are measured behind the first benchmark that wants them, so that
 * they disturb none.
 */
export const runBenchmark: Workload<BenchmarkSpec> = async (spec, context) => {
  const { fleet, program, rooflines, otherJobs, signal, onProgress } = context;
  const { host } = program === null ? fleet.withKernel(spec.kernel, spec.variant) : fleet.forProgram(program);
  const environment = describeEnvironment(host.device, otherJobs);
  const options = { onProgress, signal };
  const { traceText, ...measured } =
    program === null ? await host.benchmark(spec, options) : await host.benchmarkProgram(spec, program, options);
  const { roofline, missing } = await rooflines.ensure(host, Date.now(), options);
  const position = locateUnderRoof(measured, roofline, missing);
  return {
    result: { kind: "benchmark", ...measured, roofline: position, environment },
    deviceKey: host.device.key,
    traceText,
  };
};
