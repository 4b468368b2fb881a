import type { BenchmarkResult, BenchmarkSpec } from "../../protocol/benchmark.ts";
import type { Distribution } from "../../protocol/distribution.ts";
import type { Environment } from "../../protocol/environment.ts";
import { fingerprintText } from "../../protocol/fingerprint-id.ts";
import type { JobResult, JobSpec } from "../../protocol/job.ts";
import type { TuningResult } from "../../protocol/tuning.ts";
import { decodeSketch } from "../../stats/sketch.ts";

/**
 * Whether a result answers the job it came for, with distributions that can be read and merged: a bad
 * one would spoil its series, and one of something else could never be stored.
 */
export function isSoundResult(spec: JobSpec, result: JobResult): boolean {
  return answers(spec, result) && distributionsOf(result).every(isSound);
}

function answers(spec: JobSpec, result: JobResult): boolean {
  switch (spec.kind) {
    case "benchmark":
      if (result.kind !== "benchmark" || !isOf(spec, result)) return false;
      if (result.fallback !== undefined) return spec.onDeviceFailure === result.fallback;
      return isFrom(result, spec.deviceKey);
    case "throughput":
      return result.kind === "throughput" && isOf(spec, result) && isFrom(result, spec.deviceKey);
    case "calibration":
      return result.kind === "calibration" && result.modelVersionId === spec.modelVersionId;
    case "tuning":
      return result.kind === "tuning" && isOf(spec, result.tuning) && holdsHere(result);
  }
}

function isOf(
  spec: Pick<BenchmarkSpec, "kernel" | "dtype">,
  { kernel, dtype }: Pick<BenchmarkResult, "kernel" | "dtype">,
): boolean {
  return kernel === spec.kernel && (spec.dtype === undefined || dtype === spec.dtype);
}

function isFrom({ environment }: { environment: Environment }, deviceKey: string | undefined): boolean {
  return deviceKey === undefined || environment.deviceKey === deviceKey;
}

/** Whether a tuning is one for the device that the job ran on, even where another runner found it. */
function holdsHere({ tuning, environment }: TuningResult): boolean {
  return (
    fingerprintText(tuning.fingerprint) === fingerprintText(environment.fingerprint) &&
    tuning.deviceName === environment.deviceName &&
    tuning.software === environment.software
  );
}

function distributionsOf(result: JobResult): Distribution[] {
  switch (result.kind) {
    case "benchmark":
      return [result.wallMs, ...(result.gpuMs === null ? [] : [result.gpuMs])];
    case "throughput":
      return [result.latencyMs];
    case "calibration":
      return [
        result.linkMs,
        ...result.placements.flatMap(({ sweep, linkMs = result.linkMs }) => [
          linkMs,
          ...sweep.map(({ serviceMs }) => serviceMs),
        ]),
      ];
    case "tuning": {
      const { best, untuned } = result.tuning;
      return [best.ms, ...(untuned === null ? [] : [untuned.ms])];
    }
  }
}

function isSound({ count, min, max, sum, sketch }: Distribution): boolean {
  if (count === 0 || min > max || ![min, max, sum].every(Number.isFinite)) return false;
  try {
    return decodeSketch(sketch).count === count;
  } catch {
    return false;
  }
}
