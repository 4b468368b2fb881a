import type { JobSummary } from "../protocol/job.ts";
import type { Requirement, RequiredMetric, Verdict } from "../protocol/requirement.ts";
import type { LoadPath, ScenarioKind } from "../protocol/scenario.ts";
import type { Tone } from "./badge.tsx";
import { formatBytes, formatMeasure, formatNumber, formatShare } from "./format.ts";

/** How each outcome of a requirement, and of all of them, is shown. */
export const OUTCOMES: Record<Verdict["outcome"], readonly [Tone, string]> = {
  pass: ["good", "pass"],
  fail: ["bad", "fail"],
  insufficient: ["warn", "insufficient evidence"],
};

/** How a job that judges ended, or how far it is; an optimisation finds a configuration, or there is none. */
export function judgeJob({
  state,
  verdict,
  spec,
}: Pick<JobSummary, "state" | "verdict" | "spec">): readonly [Tone, string] {
  if (state === "failed") return ["bad", "did not finish"];
  if (state === "cancelled") return ["warn", "cancelled"];
  if (state === "leased") return ["busy", "running"];
  if (state === "queued" || verdict === null) return ["quiet", state];
  if (spec.kind !== "optimisation") return OUTCOMES[verdict];
  return verdict === "pass" ? ["good", "found"] : ["bad", "infeasible"];
}

export const SCENARIOS: Record<ScenarioKind, string> = {
  singleStream: "single stream",
  multiStream: "multi stream",
  server: "server",
  offline: "offline",
};

export const PATHS: Record<LoadPath, string> = { edge: "through the edge", runner: "on the runner" };

/** What may be required, in words. */
export const METRICS: Record<RequiredMetric, string> = {
  latencyMs: "latency",
  throughputPerS: "throughput",
  memoryBytes: "memory",
  gpuMemoryBytes: "GPU memory",
  startupMs: "start-up",
  artifactBytes: "artifact",
  fidelity: "fidelity",
  errorRate: "errors",
};

/** A value of a required metric with its unit. */
export function formatMetric(metric: RequiredMetric, value: number): string {
  switch (metric) {
    case "latencyMs":
    case "startupMs":
      return formatMeasure(value, "ms");
    case "throughputPerS":
      return `${formatNumber(value)}/s`;
    case "memoryBytes":
    case "gpuMemoryBytes":
    case "artifactBytes":
      return formatBytes(value);
    case "fidelity":
    case "errorRate":
      return formatShare(value);
  }
}

/** `p99`, `p99.9`. */
export function namePercentile(percentile: number): string {
  return `p${formatNumber(Number((100 * percentile).toFixed(3)))}`;
}

/** What is wanted: `p50 latency ≤ 10 ms`. */
export function describeRequirement({ metric, percentile = 0.99, atMost, atLeast }: Requirement): string {
  const name = metric === "latencyMs" ? `${namePercentile(percentile)} latency` : METRICS[metric];
  if (atMost !== undefined) return `${name} ≤ ${formatMetric(metric, atMost)}`;
  return atLeast === undefined ? name : `${name} ≥ ${formatMetric(metric, atLeast)}`;
}

/** The range that the measured value lies in; null where nothing tells. */
export function describeRange({ requirement: { metric }, low, high }: Verdict): string | null {
  if (low === null && high === null) return null;
  if (low === null) return `up to ${formatMetric(metric, high ?? 0)}`;
  if (high === null) return `${formatMetric(metric, low)} or more`;
  return `${formatMetric(metric, low)} to ${formatMetric(metric, high)}`;
}

/** What is left of the bound, or what is missing. */
export function describeMargin({ margin }: Verdict): string {
  if (margin === null) return "–";
  return margin >= 0 ? `${formatShare(margin)} left` : `missed by ${formatShare(-margin)}`;
}
