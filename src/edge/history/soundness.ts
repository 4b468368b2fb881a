import type { HealthReport } from "../../protocol/fleet/health.ts";
import { RunSamples } from "../../protocol/history/run.ts";
import { Trace } from "../../protocol/jobs/benchmark.ts";
import type { Distribution } from "../../protocol/wire/distribution.ts";
import { LIMITS } from "../../protocol/wire/limits.ts";
import { parseJson } from "../../protocol/wire/parse-json.ts";
import { decodeSketch } from "../../stats/distribution/sketch.ts";

/** Samples that a runner sent with a result; null where they are invalid or too large. */
export function readSamples(text: string): RunSamples | null {
  if (text.length > LIMITS.samplesBytes || new TextEncoder().encode(text).byteLength > LIMITS.samplesBytes) return null;
  return RunSamples.safeParse(parseJson(text)).data ?? null;
}

/** True if a distribution is not empty, and can be read and merged. */
export function isSoundDistribution({ count, min, max, sum, sketch }: Distribution): boolean {
  if (count === 0 || min > max || ![min, max, sum].every(Number.isFinite)) return false;
  try {
    return decodeSketch(sketch).count === count;
  } catch {
    return false;
  }
}

/** True if a trace is absent, or within its limit and well formed, so that viewers can open it. */
export function isSoundTrace(text: string | undefined): boolean {
  if (text === undefined) return true;
  if (text.length > LIMITS.traceBytes || new TextEncoder().encode(text).byteLength > LIMITS.traceBytes) return false;
  try {
    return Trace.safeParse(JSON.parse(text)).success;
  } catch {
    return false;
  }
}

/** True if a report can be stored and judged: a bad one would spoil every judgement while it is stored. */
export function isSoundReport(report: HealthReport): boolean {
  if (new TextEncoder().encode(JSON.stringify(report)).length > LIMITS.healthReportBytes) return false;
  const distributions = [
    ...report.devices.map(({ queueMs }) => queueMs),
    ...report.placements.flatMap(({ serviceMs, computeMs }) => [serviceMs, computeMs]),
  ];
  return distributions.every((distribution) => distribution === null || isSoundDistribution(distribution));
}
