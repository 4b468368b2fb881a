import type { DiagnosisCheck } from "../protocol/health.ts";
import type { Tone } from "./badge.tsx";
import { formatBytes, formatMeasure, formatShare } from "./format.ts";

/** How each outcome of a check is shown. */
export const CHECK_OUTCOMES: Record<DiagnosisCheck["outcome"], readonly [Tone, string]> = {
  pass: ["good", "pass"],
  fail: ["bad", "fail"],
  unknown: ["quiet", "not known"],
};

/** What is checked, in words. */
export const CHECKS: Record<DiagnosisCheck["check"], string> = {
  utilisation: "Utilisation",
  occupancy: "Occupancy",
  bandwidthShare: "Bandwidth",
  pageOuts: "Page-outs",
  queueDepth: "Queue depth",
  hostLoad: "Host load",
  memoryGrowth: "Memory growth",
  errorRate: "Error rate",
  p99: "p99 against its requirement",
  throttling: "Throttling",
};

/** A value in the unit that a check or finding names: shares as per cent, bytes in binary units. */
export function formatQuantity(value: number, unit: string): string {
  if (unit.startsWith("share")) return `${formatShare(value)}${unit.slice("share".length)}`;
  if (unit.startsWith("bytes")) return `${formatSignedBytes(value)}${unit.slice("bytes".length)}`;
  return formatMeasure(value, unit);
}

function formatSignedBytes(bytes: number): string {
  return bytes < 0 ? `−${formatBytes(-bytes)}` : formatBytes(bytes);
}

/** A line of a profile's fit as people read it: bytes come as plain numbers. */
export function spellBytes(requirement: string, text: string): string {
  return requirement.endsWith("bytes") ? text.replace(/\d+/, (bytes) => formatBytes(Number(bytes))) : text;
}

/** Those that failed first, then what is not known, each in the order of the checklist. */
export function orderChecks(checks: readonly DiagnosisCheck[]): DiagnosisCheck[] {
  const rank = { fail: 0, pass: 1, unknown: 2 } as const;
  return checks.toSorted((a, b) => rank[a.outcome] - rank[b.outcome]);
}
