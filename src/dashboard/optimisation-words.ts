import type { Candidate, OptimisationResult, OptimisationTrial } from "../protocol/optimisation.ts";
import { formatBytes, formatMeasure, formatNumber, formatShare } from "./format.ts";
import { namePercentile } from "./verdict-words.ts";

type Miss = OptimisationTrial["misses"][number];
type Targets = OptimisationResult["targets"];

/** Where and by what: `fp32 on cpu by ort-cpu`. */
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

/** What a target is of: `p99 latency`. */
export function nameTarget(target: Miss["target"], { percentile }: Pick<Targets, "percentile">): string {
  return target === "latencyMs" ? `${namePercentile(percentile)} latency` : NAMES[target];
}

const TOO: Record<Miss["target"], string> = {
  latencyMs: "too slow",
  throughputPerS: "too little",
  memoryBytes: "too much",
  minFidelity: "too little",
};

/** How far a target was missed: `p99 latency 2.1 ms where 0.5 ms is wanted, 4.2 times too slow`. */
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
