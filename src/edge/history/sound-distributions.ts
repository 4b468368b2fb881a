import type { Distribution } from "../../protocol/distribution.ts";
import type { JobResult } from "../../protocol/job.ts";
import { decodeSketch } from "../../stats/sketch.ts";

/** Whether every distribution of a result can be read and merged: a bad one would spoil its series. */
export function hasSoundDistributions(result: JobResult): boolean {
  const distributions =
    result.kind === "benchmark"
      ? [result.wallMs, ...(result.gpuMs === null ? [] : [result.gpuMs])]
      : [result.linkMs, ...result.placements.map((placement) => placement.serviceMs)];
  return distributions.every(isSound);
}

function isSound({ count, min, max, sum, sketch }: Distribution): boolean {
  if (count === 0 || min > max || ![min, max, sum].every(Number.isFinite)) return false;
  try {
    return decodeSketch(sketch).count === count;
  } catch {
    return false;
  }
}
