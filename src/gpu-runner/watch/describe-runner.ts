import type { JobSpec } from "../../protocol/jobs/job.ts";
import type { MemoryTier } from "../../protocol/fleet/memory.ts";
import type { MetricFamily, MetricLabels, ValueSample } from "../../telemetry/metric.ts";
import type { ServingTally } from "../serving/queue/serving-meter.ts";

/** State of a runner for its metrics; counters start with its process. */
export interface RunnerState {
  readonly version: string;
  readonly runnerId: string;
  readonly startedAtMs: number;
  /** CPU time of the runner's own process. */
  readonly cpuMs: number;
  readonly rssBytes: number;
  readonly devices: readonly DeviceState[];
  readonly kernelRuns: readonly { readonly deviceKey: string; readonly ok: boolean; readonly count: number }[];
  readonly tiers: readonly MemoryTier[];
  readonly migrationBytes: number;
  readonly jobs: {
    readonly running: number;
    readonly ended: readonly { readonly kind: JobSpec["kind"]; readonly ok: boolean; readonly count: number }[];
  };
  readonly probes: { readonly made: number; readonly failed: number };
  readonly droppedSpans: number;
}

export interface DeviceState {
  readonly deviceKey: string;
  readonly kind: string;
  readonly name: string;
  readonly software: boolean;
  readonly waiting: number;
  readonly restarts: number;
  readonly cpuMs: number;
  /** Null where the system does not report it. */
  readonly rssBytes: number | null;
  readonly serving: ServingTally;
}

/**
 * Metrics of a runner. The monitoring system computes ratios: a device's busy seconds over the seconds between two
 * scrapes.
 */
export function describeRunner(state: RunnerState): MetricFamily[] {
  const { version, runnerId, jobs, probes } = state;
  return [
    gauge("millrace_runner_build_info", "One, with the runner's version.", [one({ version, runner: runnerId })]),
    gauge("process_start_time_seconds", "When the runner's process began, in Unix time.", [
      { labels: {}, value: state.startedAtMs / 1_000 },
    ]),
    counter("process_cpu_seconds_total", "Time of the runner's own process on the CPU.", [
      { labels: {}, value: state.cpuMs / 1_000 },
    ]),
    gauge("process_resident_memory_bytes", "Memory of the runner's own process.", [
      { labels: {}, value: state.rssBytes },
    ]),
    ...describeDevices(state.devices),
    counter(
      "millrace_runner_kernel_runs_total",
      "Pieces of kernel work by jobs on a device: benchmarks, throughputs, tunings, validations.",
      state.kernelRuns.map(({ deviceKey, ok, count }) => ({
        labels: { device: deviceKey, outcome: outcomeOf(ok) },
        value: count,
      })),
    ),
    ...describeTiers(state.tiers),
    counter("millrace_runner_migration_bytes_total", "Bytes moved between tiers of memory.", [
      { labels: {}, value: state.migrationBytes },
    ]),
    gauge("millrace_runner_jobs", "Jobs that run here.", [{ labels: {}, value: jobs.running }]),
    counter(
      "millrace_runner_jobs_ended_total",
      "Jobs that ended here, by outcome; cancelled ones count as failed.",
      jobs.ended.map(({ kind, ok, count }) => ({ labels: { kind, outcome: outcomeOf(ok) }, value: count })),
    ),
    counter("millrace_runner_probes_total", "Probes of placements by the watch.", [
      { labels: { outcome: "done" }, value: probes.made - probes.failed },
      { labels: { outcome: "failed" }, value: probes.failed },
    ]),
    counter("millrace_runner_spans_dropped_total", "Spans that were dropped before they reached a collector.", [
      { labels: {}, value: state.droppedSpans },
    ]),
  ];
}

function describeDevices(devices: readonly DeviceState[]): MetricFamily[] {
  const each = (value: (device: DeviceState) => number | null) =>
    devices.flatMap((device) => known({ device: device.deviceKey }, value(device)));
  const served = (value: (serving: ServingTally) => number) => each(({ serving }) => value(serving));
  return [
    gauge(
      "millrace_runner_device_info",
      "One for each device.",
      devices.map(({ deviceKey, kind, name, software }) =>
        one({ device: deviceKey, kind, name, software: String(software) }),
      ),
    ),
    gauge(
      "millrace_runner_waiting_requests",
      "Requests in a device's queue.",
      each(({ waiting }) => waiting),
    ),
    counter(
      "millrace_runner_requests_total",
      "Requests that arrived at a device.",
      served(({ requests }) => requests),
    ),
    counter(
      "millrace_runner_refused_total",
      "Requests that were refused on arrival, displaced, or dropped from the queue.",
      served(({ refused }) => refused),
    ),
    counter(
      "millrace_runner_errors_total",
      "Requests whose computation failed.",
      served(({ errors }) => errors),
    ),
    counter(
      "millrace_runner_batches_total",
      "Batches that a device computed.",
      served(({ batches }) => batches),
    ),
    counter(
      "millrace_runner_rows_total",
      "Rows in those batches.",
      served(({ rows }) => rows),
    ),
    counter(
      "millrace_runner_busy_seconds_total",
      "Time in which a device computed a batch, transfers included.",
      served(({ busyMs }) => busyMs / 1_000),
    ),
    counter(
      "millrace_runner_compute_seconds_total",
      "Time in which a device's process computed.",
      served(({ computeMs }) => computeMs / 1_000),
    ),
    counter(
      "millrace_runner_transfer_seconds_total",
      "Time in which a device's process moved inputs and outputs.",
      served(({ transferMs }) => transferMs / 1_000),
    ),
    counter(
      "millrace_runner_restarts_total",
      "Restarts of a device's process.",
      each(({ restarts }) => restarts),
    ),
    counter(
      "millrace_runner_device_cpu_seconds_total",
      "Time of a device's process on the CPU.",
      each(({ cpuMs }) => cpuMs / 1_000),
    ),
    gauge(
      "millrace_runner_device_resident_memory_bytes",
      "Memory of a device's process.",
      each(({ rssBytes }) => rssBytes),
    ),
  ];
}

/** Tiers of memory; those of GPUs by their device. */
function describeTiers(tiers: readonly MemoryTier[]): MetricFamily[] {
  const each = (value: (tier: MemoryTier) => number | null) =>
    tiers.flatMap((tier) => known({ tier: tier.tier, device: tier.deviceKey ?? "" }, value(tier)));
  return [
    gauge(
      "millrace_runner_tier_capacity_bytes",
      "Capacity of a tier of memory.",
      each(({ capacityBytes }) => capacityBytes),
    ),
    gauge(
      "millrace_runner_tier_used_bytes",
      "Used bytes of a tier.",
      each(({ usedBytes }) => usedBytes),
    ),
    counter(
      "millrace_runner_tier_hits_total",
      "Items that were found in a tier.",
      each(({ hits }) => hits),
    ),
    counter(
      "millrace_runner_tier_misses_total",
      "Items that were not found in a tier.",
      each(({ misses }) => misses),
    ),
    counter(
      "millrace_runner_tier_evictions_total",
      "Items evicted for lack of room.",
      each(({ evictions }) => evictions),
    ),
    counter(
      "millrace_runner_tier_failures_total",
      "Reads and writes of a tier that failed.",
      each(({ failures }) => failures),
    ),
  ];
}

function gauge(name: string, help: string, samples: readonly ValueSample[]): MetricFamily {
  return { name, help, type: "gauge", samples };
}

function counter(name: string, help: string, samples: readonly ValueSample[]): MetricFamily {
  return { name, help, type: "counter", samples };
}

function one(labels: MetricLabels): ValueSample {
  return { labels, value: 1 };
}

function known(labels: MetricLabels, value: number | null): ValueSample[] {
  return value === null ? [] : [{ labels, value }];
}

function outcomeOf(ok: boolean): string {
  return ok ? "done" : "failed";
}
