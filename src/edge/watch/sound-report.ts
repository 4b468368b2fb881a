import type { HealthReport } from "../../protocol/health.ts";
import { LIMITS } from "../../protocol/limits.ts";
import { isSoundDistribution } from "../history/sound-distribution.ts";

/** Whether a report can be kept and judged: a bad one would spoil each judgement for as long as it is kept. */
export function isSoundReport(report: HealthReport): boolean {
  const told = [
    ...report.devices.map(({ queueMs }) => queueMs),
    ...report.placements.flatMap(({ serviceMs, computeMs }) => [serviceMs, computeMs]),
  ];
  if (!told.every((distribution) => distribution === null || isSoundDistribution(distribution))) return false;
  return new TextEncoder().encode(JSON.stringify(report)).length <= LIMITS.healthReportBytes;
}
