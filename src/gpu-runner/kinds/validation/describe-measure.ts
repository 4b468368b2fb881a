import type { RequiredMetric } from "../../../protocol/models/requirement.ts";
import type { LoadPath, ScenarioKind } from "../../../protocol/models/scenario.ts";

const NAMES: Readonly<Record<RequiredMetric, string>> = {
  latencyMs: "latency",
  throughputPerS: "throughput",
  memoryBytes: "memory of the process",
  gpuMemoryBytes: "memory on the device",
  startupMs: "start-up",
  artifactBytes: "artifact",
  fidelity: "fidelity",
  errorRate: "error rate",
};

export function nameMetric(metric: RequiredMetric): string {
  return NAMES[metric];
}

/** A value with its unit, to three digits: `7.42 ms`, `812/s`, `412 MB`, `0.4 %`. */
export function describeMeasure(metric: RequiredMetric, value: number): string {
  switch (metric) {
    case "latencyMs":
    case "startupMs":
      return `${toThree(value)} ms`;
    case "throughputPerS":
      return `${toThree(value)}/s`;
    case "memoryBytes":
    case "gpuMemoryBytes":
    case "artifactBytes":
      return describeBytes(value);
    case "fidelity":
      return value.toFixed(4);
    case "errorRate":
      return describeShare(value);
  }
}

export function describeShare(share: number): string {
  return `${toThree(100 * share)} %`;
}

/** `p99`, `p99.9`. */
export function namePercentile(percentile: number): string {
  return `p${Number((100 * percentile).toPrecision(12))}`;
}

export function describeCount(count: number, one: string, many = `${one}s`): string {
  return `${count.toLocaleString("en")} ${count === 1 ? one : many}`;
}

function describeBytes(bytes: number): string {
  const units = ["B", "kB", "MB", "GB", "TB"];
  const power = bytes < 1 ? 0 : Math.min(units.length - 1, Math.floor(Math.log10(bytes) / 3));
  return `${toThree(bytes / 1e3 ** power)} ${units[power]}`;
}

function toThree(value: number): string {
  return value.toLocaleString("en", value >= 1_000 ? { maximumFractionDigits: 0 } : { maximumSignificantDigits: 3 });
}

/** Evidence for one requirement, under one scenario and path. */
export interface Evidence {
  readonly metric: RequiredMetric;
  /** Null where it belongs to no scenario. */
  readonly scenario: ScenarioKind | null;
  readonly path: LoadPath | null;
  /** Null without a value: `found` gives the reason. */
  readonly measured: number | null;
  /** Bounds of the true value, each with a confidence of 0.99; null where nothing bounds it. */
  readonly low: number | null;
  readonly high: number | null;
  /** Whether the value is known to be less than `high`, not just at most as much. */
  readonly isBelowHigh?: boolean;
  /** Sentence that describes the finding, without its full stop. */
  readonly found: string;
  /** Further evidence needed to decide on a bound. */
  readonly wanted: (bound: number) => string;
}
