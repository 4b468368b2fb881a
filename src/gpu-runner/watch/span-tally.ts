import { mergeServing, type ServingTally } from "../serving/queue/serving-meter.ts";
import type { ProbeTally } from "./probe-loop.ts";

/** Tally of one device in a span; CPU time is null where the system does not report it. */
export interface DeviceTally {
  readonly serving: ServingTally;
  readonly cpuMs: number | null;
}

/** Tally of a runner in a span: all values add up, except the lag, of which the larger counts. */
export interface SpanTally {
  readonly spanMs: number;
  readonly jobMs: number;
  /** Of all cores together: busy time, and total time. */
  readonly coresBusyMs: number;
  readonly coresMs: number;
  readonly ownCpuMs: number | null;
  readonly lagMs: number;
  readonly pageOuts: number;
  readonly migrationBytes: number;
  /** By key. */
  readonly devices: ReadonlyMap<string, DeviceTally>;
  /** By placement, probed ones only. */
  readonly probes: ReadonlyMap<string, ProbeTally>;
}

/** Span of no length. */
export const NO_SPAN: SpanTally = {
  spanMs: 0,
  jobMs: 0,
  coresBusyMs: 0,
  coresMs: 0,
  ownCpuMs: 0,
  lagMs: 0,
  pageOuts: 0,
  migrationBytes: 0,
  devices: new Map(),
  probes: new Map(),
};

/** Merges two consecutive spans. */
export function mergeSpans(one: SpanTally, other: SpanTally): SpanTally {
  return {
    spanMs: one.spanMs + other.spanMs,
    jobMs: one.jobMs + other.jobMs,
    coresBusyMs: one.coresBusyMs + other.coresBusyMs,
    coresMs: one.coresMs + other.coresMs,
    ownCpuMs: addKnown(one.ownCpuMs, other.ownCpuMs),
    lagMs: Math.max(one.lagMs, other.lagMs),
    pageOuts: one.pageOuts + other.pageOuts,
    migrationBytes: one.migrationBytes + other.migrationBytes,
    devices: mergeByKey(one.devices, other.devices, mergeDevices),
    probes: mergeByKey(one.probes, other.probes, mergeProbes),
  };
}

function mergeDevices(one: DeviceTally, other: DeviceTally): DeviceTally {
  return { serving: mergeServing(one.serving, other.serving), cpuMs: addKnown(one.cpuMs, other.cpuMs) };
}

function mergeProbes(one: ProbeTally, other: ProbeTally): ProbeTally {
  return {
    probes: one.probes + other.probes,
    errors: one.errors + other.errors,
    serviceMs: [...one.serviceMs, ...other.serviceMs],
    computeMs: [...one.computeMs, ...other.computeMs],
  };
}

function mergeByKey<Value>(
  one: ReadonlyMap<string, Value>,
  other: ReadonlyMap<string, Value>,
  merge: (one: Value, other: Value) => Value,
): Map<string, Value> {
  const merged = new Map(one);
  for (const [key, value] of other) {
    const before = merged.get(key);
    merged.set(key, before === undefined ? value : merge(before, value));
  }
  return merged;
}

function addKnown(one: number | null, other: number | null): number | null {
  return one === null || other === null ? null : one + other;
}
