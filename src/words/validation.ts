import type { Candidate, OptimisationResult, OptimisationTrial } from "../protocol/jobs/optimisation.ts";
import type { RequiredMetric, Requirement, Verdict } from "../protocol/models/requirement.ts";
import type { LoadPath, ScenarioKind } from "../protocol/models/scenario.ts";
import { formatBytes, formatMeasure, formatNumber, formatShare, type Numbers, PAGE_NUMBERS } from "./numbers.ts";
import type { Tone } from "./tone.ts";

/** Badge of each outcome, for one requirement or for all. */
export const OUTCOMES: Record<Verdict["outcome"], readonly [Tone, string]> = {
  pass: ["good", "pass"],
  fail: ["bad", "fail"],
  insufficient: ["warn", "insufficient evidence"],
};

export const SCENARIOS: Record<ScenarioKind, string> = {
  singleStream: "single stream",
  multiStream: "multi stream",
  server: "server",
  offline: "offline",
};

export const PATHS: Record<LoadPath, string> = { edge: "through the edge", runner: "on the runner" };

/** Metrics that a requirement can use, in words. */
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
export function formatMetric(
  metric: RequiredMetric,
  value: number,
  { number, measure, bytes }: Numbers = PAGE_NUMBERS,
): string {
  switch (metric) {
    case "latencyMs":
    case "startupMs":
      return measure(value, "ms");
    case "throughputPerS":
      return `${number(value)}/s`;
    case "memoryBytes":
    case "gpuMemoryBytes":
    case "artifactBytes":
      return bytes(value);
    case "fidelity":
    case "errorRate":
      return formatShare(value);
  }
}

/** `p99`, `p99.9`. */
export function namePercentile(percentile: number): string {
  return `p${formatNumber(Number((100 * percentile).toFixed(3)))}`;
}

/** A requirement in words: `p50 latency ≤ 10 ms`. */
export function describeRequirement({ metric, percentile = 0.99, atMost, atLeast }: Requirement): string {
  const name = metric === "latencyMs" ? `${namePercentile(percentile)} latency` : METRICS[metric];
  if (atMost !== undefined) return `${name} ≤ ${formatMetric(metric, atMost)}`;
  return atLeast === undefined ? name : `${name} ≥ ${formatMetric(metric, atLeast)}`;
}

/** The range that the measured value lies in; null where it is not known. */
export function describeRange(
  { requirement: { metric }, low, high }: Verdict,
  numbers: Numbers = PAGE_NUMBERS,
): string | null {
  if (low === null && high === null) return null;
  if (low === null) return `up to ${formatMetric(metric, high ?? 0, numbers)}`;
  if (high === null) return `${formatMetric(metric, low, numbers)} or more`;
  return `${formatMetric(metric, low, numbers)} to ${formatMetric(metric, high, numbers)}`;
}

/** The distance to the bound as a share: left, or missed. */
export function describeMargin({ margin }: Verdict): string {
  if (margin === null) return "–";
  return margin >= 0 ? `${formatShare(margin)} left` : `missed by ${formatShare(-margin)}`;
}

type Miss = OptimisationTrial["misses"][number];
type Targets = OptimisationResult["targets"];

/** Variant and place of a candidate: `fp32 on cpu by ort-cpu`. */
export function nameCandidate({ variant, deviceKey, backend }: Candidate): string {
  return `${variant} on ${deviceKey} by ${backend}`;
}

/** The settings of a candidate: `1 thread, batches of 8, 16 in flight`. */
export function describeSettings({ threads, maxRows, concurrency, axes }: Candidate): string {
  const further = Object.entries(axes ?? {}).map(([name, value]) => `${name} ${value}`);
  const counted = [
    `${threads} ${threads === 1 ? "thread" : "threads"}`,
    `batches of ${maxRows}`,
    `${concurrency} in flight`,
  ];
  return [...counted, ...further].join(", ");
}

/** A value of a target with its unit. */
export function formatTarget(target: Miss["target"], value: number): string {
  switch (target) {
    case "latencyMs":
      return formatMeasure(value, "ms");
    case "throughputPerS":
      return `${formatNumber(value)}/s`;
    case "memoryBytes":
      return formatBytes(value);
    case "minFidelity":
      return formatShare(value);
  }
}

const NAMES: Record<Exclude<Miss["target"], "latencyMs">, string> = {
  throughputPerS: "throughput",
  memoryBytes: "memory",
  minFidelity: "fidelity",
};

/** The measure of a target: `p99 latency`. */
export function nameTarget(target: Miss["target"], { percentile }: Pick<Targets, "percentile">): string {
  return target === "latencyMs" ? `${namePercentile(percentile)} latency` : NAMES[target];
}

const TOO: Record<Miss["target"], string> = {
  latencyMs: "too slow",
  throughputPerS: "too little",
  memoryBytes: "too much",
  minFidelity: "too little",
};

/** Distance from a missed target: `p99 latency 2.1 ms where 0.5 ms is wanted, 4.2 times too slow`. */
export function describeMiss({ target, wanted, found, factor }: Miss, targets: Pick<Targets, "percentile">): string {
  const values = `${formatTarget(target, found)} where ${formatTarget(target, wanted)} is wanted`;
  return `${nameTarget(target, targets)} ${values}, ${formatNumber(factor)} times ${TOO[target]}`;
}

/** One target, with what a trial has of it. */
export interface TargetLine {
  readonly target: Miss["target"];
  readonly wanted: number;
  readonly found: number | null;
  readonly met: boolean;
}

/** The targets that were set, as a trial reaches them. */
export function listTargets(targets: Targets, trial: OptimisationTrial): TargetLine[] {
  const found = {
    latencyMs: trial.latencyMs,
    throughputPerS: trial.throughputPerS,
    memoryBytes: trial.memoryBytes,
    minFidelity: trial.fidelity,
  };
  const missed = new Set(trial.misses.map(({ target }) => target));
  return (["latencyMs", "throughputPerS", "memoryBytes", "minFidelity"] as const).flatMap((target) => {
    const wanted = targets[target];
    // Any fidelity will do where none is asked for.
    if (wanted === undefined || (target === "minFidelity" && wanted === 0)) return [];
    return [{ target, wanted, found: found[target], met: trial.outcome === "measured" && !missed.has(target) }];
  });
}
