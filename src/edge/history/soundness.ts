import type { HealthReport } from "../../protocol/fleet/health.ts";
import { RunSamples } from "../../protocol/history/run.ts";
import { Trace } from "../../protocol/jobs/benchmark.ts";
import type { Distribution } from "../../protocol/wire/distribution.ts";
import { LIMITS } from "../../protocol/wire/limits.ts";
import { parseJson } from "../../protocol/wire/parse-json.ts";
import { decodeSketch } from "../../stats/distribution/sketch.ts";

/** The samples that a runner sent beside a result; null where they are none, or more than is kept. */
export function readSamples(text: string): RunSamples | null {
  if (text.length > LIMITS.samplesBytes || new TextEncoder().encode(text).byteLength > LIMITS.samplesBytes) return null;
  return RunSamples.safeParse(parseJson(text)).data ?? null;
}

/** Whether a distribution holds something, and can be read and merged. */
export function isSoundDistribution({ count, min, max, sum, sketch }: Distribution): boolean {
  if (count === 0 || min > max || ![min, max, sum].every(Number.isFinite)) return false;
  try {
    return decodeSketch(sketch).count === count;
  } catch {
    return false;
  }
}

/** Whether a trace, if there is one, may be kept and given to people's viewers: within its limit, and of its form. */
export function isSoundTrace(text: string | undefined): boolean {
  if (text === undefined) return true;
  if (text.length > LIMITS.traceBytes || new TextEncoder().encode(text).byteLength > LIMITS.traceBytes) return false;
  try {
    return Trace.safeParse(JSON.parse(text)).success;
  } catch {
    return false;
  }
}

/** Whether a report can be kept and judged: a bad one would spoil each judgement for as long as it is kept. */
export function isSoundReport(report: HealthReport): boolean {
  const told = [
    ...report.devices.map(({ queueMs }) => queueMs),
    ...report.placements.flatMap(({ serviceMs, computeMs }) => [serviceMs, computeMs]),
  ];
  if (!told.every((distribution) => distribution === null || isSoundDistribution(distribution))) return false;
  return new TextEncoder().encode(JSON.stringify(report)).length <= LIMITS.healthReportBytes;
}
