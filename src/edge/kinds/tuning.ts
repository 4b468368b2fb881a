import { fingerprintText } from "../../protocol/fleet/hardware.ts";
import type { TuningResult, TuningSpec } from "../../protocol/jobs/tuning.ts";
import { openProject } from "../store/database.ts";
import { appendMeasurements, type Measurement } from "../store/history/point-store.ts";
import { saveTuning } from "../store/kernels/tuning-store.ts";
import type { InputOf, JobKindModule, JobSurroundings, Prepared, RunContext } from "./kind.ts";
import { checkBenchmark } from "./subjects/check-benchmark.ts";
import { checkDevice } from "./subjects/kernel-devices.ts";
import { isKernelOurs, isOfKernel, kernelPointsOf, offerProgram } from "./subjects/kernel-jobs.ts";

export const tuning: JobKindModule<TuningSpec> = {
  prepare,
  target: (spec) => spec,
  judgesRunner: isKernelOurs,
  offer: offerProgram,
  answers: (spec, result) => isOfKernel(spec, result.tuning) && holdsHere(result),
  distributions: ({ tuning: { best, untuned } }) => (untuned === null ? [best.ms] : [best.ms, untuned.ms]),
  store: async (env, run, context) => {
    await saveTuning(openProject(env), run, run.result);
    await appendMeasurements(env.DB, measureTuning(run.result, context));
  },
};

async function prepare(
  spec: InputOf<TuningSpec>,
  { candidates, announced }: JobSurroundings,
): Promise<Prepared<TuningSpec>> {
  const errors = checkBenchmark({ ...spec, variant: undefined, axes: undefined }, announced);
  const capabilities = candidates.map((candidate) => candidate.capabilities);
  return { spec, errors: [...errors, ...checkDevice(spec, capabilities)] };
}

/** Whether a tuning applies to the job's device, even if another runner found it. */
function holdsHere({ tuning: found, environment }: TuningResult): boolean {
  return (
    fingerprintText(found.fingerprint) === fingerprintText(environment.fingerprint) &&
    found.deviceName === environment.deviceName &&
    found.software === environment.software
  );
}

/** A search's point in the history: the runs of its best choice. A cached answer is no new point. */
function measureTuning({ tuning: found, cached, environment }: TuningResult, run: RunContext): Measurement[] {
  if (cached) return [];
  const point = kernelPointsOf({ ...found, environment }, run);
  return [point("tunedMs", "ms", "lower", found.best.ms, found.clock)];
}
