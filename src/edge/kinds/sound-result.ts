import type { BenchmarkResult, BenchmarkSpec } from "../../protocol/jobs/benchmark.ts";
import type { Distribution } from "../../protocol/wire/distribution.ts";
import type { Environment } from "../../protocol/jobs/job-fields.ts";
import { fingerprintText } from "../../protocol/fleet/hardware.ts";
import type { JobResult, JobSpec } from "../../protocol/jobs/job.ts";
import type { OptimisationResult } from "../../protocol/jobs/optimisation.ts";
import type { TuningResult } from "../../protocol/jobs/tuning.ts";
import type { ValidationResult, ValidationSpec } from "../../protocol/jobs/validation.ts";
import { isEnvironmentId } from "../store/models/environment-store.ts";
import { isSoundDistribution } from "../history/soundness.ts";

/**
 * Whether a result answers the job it came for, with distributions that can be read and merged: a bad
 * one would spoil its series, and one of something else could never be stored.
 */
export function isSoundResult(spec: JobSpec, result: JobResult): boolean {
  return answers(spec, result) && distributionsOf(result).every(isSoundDistribution);
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
    case "validation":
      return (
        result.kind === "validation" &&
        isAbout(spec, result) &&
        result.place.placementId === (spec.placementId ?? null) &&
        (spec.deviceKey === undefined || result.place.deviceKey === spec.deviceKey)
      );
    case "optimisation":
      return result.kind === "optimisation" && isAbout(spec, result) && pointsIntoTrials(result);
    case "evaluation":
      return (
        result.kind === "evaluation" &&
        isIn(spec.environment, result.task.name) &&
        isFrom(result, spec.deviceKey) &&
        result.entrants.length === spec.entrants.length
      );
    case "training":
      return result.kind === "training" && isIn(spec.environment, result.task.name);
    case "evolution":
      return result.kind === "evolution" && result.pool === spec.pool.name;
    case "consensus":
      return result.kind === "consensus" && result.ballots.length === (spec.votes?.length ?? 1);
    case "compression":
      return (
        result.kind === "compression" &&
        result.modelVersionId === spec.modelVersionId &&
        result.variant === spec.name &&
        JSON.stringify(result.recipe) === JSON.stringify(spec.recipe)
      );
    case "probe":
      return (
        result.kind === "probe" &&
        isFrom(result, spec.deviceKey) &&
        result.ok === result.claims.every((claim) => claim.ok)
      );
  }
}

function isOf(
  spec: Pick<BenchmarkSpec, "kernel" | "dtype">,
  { kernel, dtype }: Pick<BenchmarkResult, "kernel" | "dtype">,
): boolean {
  return kernel === spec.kernel && (spec.dtype === undefined || dtype === spec.dtype);
}

/** Whether an environment is what the job named; one that was submitted is named by its id, and has a name beside. */
function isIn(environment: string, name: string): boolean {
  return isEnvironmentId(environment) || name === environment;
}

function isFrom({ environment }: { environment: Environment }, deviceKey: string | undefined): boolean {
  return deviceKey === undefined || environment.deviceKey === deviceKey;
}

/** Whether what was validated or optimised is what the job named. */
function isAbout(
  spec: Pick<ValidationSpec, "subject" | "modelVersionId">,
  { subject, modelVersionId }: Pick<ValidationResult, "subject" | "modelVersionId">,
): boolean {
  if (spec.subject.kind === "model") return subject.kind === "model" && modelVersionId === spec.modelVersionId;
  return subject.kind === "kernel" && subject.kernel === spec.subject.kernel;
}

function pointsIntoTrials({ trials, best, default: standing, pareto, infeasible }: OptimisationResult): boolean {
  const indexes = [best, standing, infeasible?.nearest ?? null, ...pareto];
  return indexes.every((index) => index === null || index < trials.length);
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
    case "validation":
      return result.scenarios.flatMap(({ latencyMs }) => (latencyMs === null ? [] : [latencyMs]));
    case "optimisation": {
      const { applied } = result;
      if (applied === null) return [];
      const { sweep = [], linkMs } = applied.placement ?? {};
      const measured = [...sweep.map(({ serviceMs }) => serviceMs), ...(linkMs === undefined ? [] : [linkMs])];
      const validations = [applied.before, applied.after].filter((validation) => validation !== null);
      return [...validations.flatMap(distributionsOf), ...measured];
    }
    case "probe":
    case "evaluation":
    case "training":
    case "evolution":
    case "consensus":
    case "compression":
      return [];
  }
}
