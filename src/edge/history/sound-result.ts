import type { Distribution } from "../../protocol/distribution.ts";
import type { JobResult, JobSpec } from "../../protocol/job.ts";
import { decodeSketch } from "../../stats/sketch.ts";

/**
 * Whether a result answers the job it came for, with distributions that can be read and merged: a bad
 * one would spoil its series, and one of something else could never be stored.
 */
export function isSoundResult(spec: JobSpec, result: JobResult): boolean {
  return answers(spec, result) && distributionsOf(result).every(isSound);
}

function answers(spec: JobSpec, result: JobResult): boolean {
  if (spec.kind === "calibration") {
    return result.kind === "calibration" && result.modelVersionId === spec.modelVersionId;
  }
  return result.kind === spec.kind && result.kernel === spec.kernel;
}

function distributionsOf(result: JobResult): Distribution[] {
  if (result.kind === "benchmark") return [result.wallMs, ...(result.gpuMs === null ? [] : [result.gpuMs])];
  if (result.kind === "throughput") return [result.latencyMs];
  return [result.linkMs, ...result.placements.map((placement) => placement.serviceMs)];
}

function isSound({ count, min, max, sum, sketch }: Distribution): boolean {
  if (count === 0 || min > max || ![min, max, sum].every(Number.isFinite)) return false;
  try {
    return decodeSketch(sketch).count === count;
  } catch {
    return false;
  }
}
