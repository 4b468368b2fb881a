import { fingerprintText } from "../../../protocol/fleet/hardware.ts";
import type { KernelTuningSpec, Tuning, TuningResult } from "../../../protocol/jobs/tuning.ts";
import type { FieldError } from "../../../protocol/wire/problem.ts";
import type { Measurement } from "../../store/history/point-store.ts";
import type { JobSurroundings, RunContext } from "../kind.ts";
import { checkBenchmark } from "../subjects/check-benchmark.ts";
import { checkDevice } from "../subjects/kernel-devices.ts";
import { isOfKernel, kernelPointsOf } from "../subjects/kernel-jobs.ts";

export function checkKernel(spec: KernelTuningSpec, { candidates, announced }: JobSurroundings): FieldError[] {
  const errors = checkBenchmark({ ...spec, variant: undefined, axes: undefined }, announced);
  const capabilities = candidates.map((candidate) => candidate.capabilities);
  return [...errors, ...checkDevice(spec, capabilities)];
}

/** Whether a result is of the job's kernel, and applies to the job's device, even if another runner found it. */
export function answersKernel(spec: KernelTuningSpec, { tuning: found, environment }: TuningResult): boolean {
  return (
    found !== undefined &&
    isOfKernel(spec, found) &&
    fingerprintText(found.fingerprint) === fingerprintText(environment.fingerprint) &&
    found.deviceName === environment.deviceName &&
    found.software === environment.software
  );
}

/** A search's point in the history: the runs of its best choice. A cached answer is no new point. */
export function measureKernel(
  found: Tuning,
  { cached, environment }: Pick<TuningResult, "cached" | "environment">,
  run: RunContext,
): Measurement[] {
  if (cached) return [];
  const point = kernelPointsOf({ ...found, environment }, run);
  return [point("tunedMs", "ms", "lower", found.best.ms, found.clock)];
}
