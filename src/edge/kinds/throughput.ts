import type { ThroughputResult, ThroughputSpec } from "../../protocol/jobs/throughput.ts";
import type { FieldError } from "../../protocol/wire/problem.ts";
import { appendMeasurements, type Measurement } from "../store/history/point-store.ts";
import type { InputOf, JobKindModule, JobSurroundings, Prepared, RunContext } from "./kind.ts";
import { checkBenchmark } from "./subjects/check-benchmark.ts";
import { checkDevice, isFrom } from "./subjects/kernel-devices.ts";
import { isKernelOurs, isOfKernel, kernelPointsOf, offerProgram } from "./subjects/kernel-jobs.ts";

export const throughput: JobKindModule<ThroughputSpec> = {
  prepare,
  target: (spec) => spec,
  judgesRunner: isKernelOurs,
  offer: offerProgram,
  answers: (spec, result) => isOfKernel(spec, result) && isFrom(result, spec.deviceKey),
  distributions: ({ latencyMs }) => [latencyMs],
  store: async (env, { result }, run) => appendMeasurements(env.DB, measureThroughput(result, run)),
};

async function prepare(
  spec: InputOf<ThroughputSpec>,
  { candidates, announced }: JobSurroundings,
): Promise<Prepared<ThroughputSpec>> {
  const errors: FieldError[] = checkBenchmark({ ...spec, axes: undefined }, announced);
  if (spec.adaptMs + spec.measureMs >= spec.timeoutMs) {
    errors.push({ pointer: "#/timeoutMs", message: "must be longer than adaptMs and measureMs together" });
  }
  const capabilities = candidates.map((candidate) => candidate.capabilities);
  return { spec, errors: [...errors, ...checkDevice(spec, capabilities)] };
}

/** A throughput job's points in the history: rates, busy share and latency, by the controller's depth. */
function measureThroughput(result: ThroughputResult, run: RunContext): Measurement[] {
  const point = kernelPointsOf(result, run, { variant: result.variant, depth: result.setting.depth });
  return [
    point("itemsPerSecond", "1/s", "higher", result.itemsPerSecond, "runner-wall"),
    point("busyShare", "share", "higher", result.busyShare, result.clock),
    point("submissionMs", "ms", "lower", result.latencyMs, "runner-wall"),
  ];
}
