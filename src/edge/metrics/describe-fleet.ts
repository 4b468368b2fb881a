import type { HealthReport } from "../../protocol/fleet/health.ts";
import type { MetricFamily, MetricLabels, ValueSample } from "../../telemetry/metric.ts";
import type { LinkState } from "../link/link-rpc.ts";
import type { MetricRunner } from "../store/history/metric-store.ts";

/** A runner with the state of its link; null where the link did not answer, or was not asked. */
export interface KnownRunner extends MetricRunner {
  readonly link: LinkState | null;
}

const STATES = ["registered", "online", "draining", "offline"] as const;

/** Metrics of runners and their devices: counts over all, and the reports of each. */
export function describeFleet(runners: readonly KnownRunner[], nowMs: number): MetricFamily[] {
  const links = runners.flatMap(({ id, link }) => (link === null ? [] : [{ runner: id, ...link }]));
  // The last report of an offline runner is outdated.
  const isLive = ({ state }: MetricRunner) => state === "online" || state === "draining";
  const reports = runners.flatMap((runner) =>
    isLive(runner) && runner.link?.report ? [{ runner: runner.id, report: runner.link.report }] : [],
  );
  return [
    gauge("millrace_runners", "Runners, by state.", countStates(runners)),
    gauge("millrace_devices", "Devices of runners that are online.", countDevices(runners.filter(isLive))),
    gauge(
      "millrace_runner_info",
      "One for each runner, with its name and state.",
      runners.map(({ id, name, state }) => ({ labels: { runner: id, name, state }, value: 1 })),
    ),
    gauge(
      "millrace_outbox_oldest_age_seconds",
      "Since the oldest measurement came that is on its way from a runner's link to the database; 0 where none is.",
      links.map(({ runner, outbox }) => ({
        labels: { runner },
        value: outbox.oldestAtMs === null ? 0 : Math.max(0, nowMs - outbox.oldestAtMs) / 1_000,
      })),
    ),
    gauge(
      "millrace_outbox_rows",
      "Measurements that are on their way from a runner's link to the database.",
      links.map(({ runner, outbox }) => ({ labels: { runner }, value: outbox.rows })),
    ),
    ...describeReports(reports, nowMs),
    gauge(
      "millrace_metrics_silent_links",
      "Links of runners that did not answer this scrape in time, or were too many to ask.",
      [{ labels: {}, value: runners.length - links.length }],
    ),
  ];
}

interface RunnerReport {
  readonly runner: string;
  readonly report: HealthReport;
}

/** Metrics from the runners' last reports. */
function describeReports(reports: readonly RunnerReport[], nowMs: number): MetricFamily[] {
  const ofRunner = (value: (report: HealthReport) => number | null) =>
    reports.flatMap(({ runner, report }) => toSamples({ runner }, value(report)));
  const ofDevice = (value: (device: HealthReport["devices"][number]) => number | null) =>
    reports.flatMap(({ runner, report }) =>
      report.devices.flatMap((device) => toSamples({ runner, device: device.deviceKey }, value(device))),
    );
  const ofSensor = (value: (sensor: HealthReport["sensors"][number]) => number | null) =>
    reports.flatMap(({ runner, report }) =>
      report.sensors.flatMap((sensor) => toSamples({ runner, sensor: sensor.of }, value(sensor))),
    );
  return [
    gauge(
      "millrace_runner_report_age_seconds",
      "Age of a runner's last health report.",
      ofRunner(({ at }) => Math.max(0, nowMs - Date.parse(at)) / 1_000),
    ),
    gauge(
      "millrace_runner_job_ratio",
      "Share of the last report's span in which a job ran.",
      ofRunner(({ jobShare }) => jobShare),
    ),
    gauge(
      "millrace_runner_cpu_busy_ratio",
      "Share of all cores' time that was busy, by whatever process.",
      ofRunner(({ host }) => host.busyShare),
    ),
    gauge(
      "millrace_runner_memory_bytes",
      "Memory of the machine.",
      ofRunner(({ host }) => host.memoryBytes),
    ),
    gauge(
      "millrace_runner_memory_free_bytes",
      "Of it, what is free.",
      ofRunner(({ host }) => host.freeBytes),
    ),
    gauge(
      "millrace_runner_resident_memory_bytes",
      "Memory of the runner with all its processes.",
      ofRunner(({ host }) => host.ownRssBytes),
    ),
    gauge(
      "millrace_device_busy_ratio",
      "Share of the last report's span in which a batch was under way.",
      ofDevice(({ busyShare }) => busyShare),
    ),
    gauge(
      "millrace_device_compute_ratio",
      "Share of it in which the device computed.",
      ofDevice(({ computeShare }) => computeShare),
    ),
    gauge(
      "millrace_device_waiting_requests",
      "Requests in a device's queue.",
      ofDevice(({ waiting }) => waiting),
    ),
    gauge(
      "millrace_device_resident_memory_bytes",
      "Memory of a device's process.",
      ofDevice(({ processRssBytes }) => processRssBytes),
    ),
    {
      name: "millrace_device_restarts_total",
      help: "How often a device's process was started again since its runner started.",
      type: "counter",
      samples: ofDevice(({ restarts }) => restarts),
    },
    gauge(
      "millrace_sensor_temperature_celsius",
      "Temperature of a processor.",
      ofSensor(({ temperatureC }) => temperatureC),
    ),
    gauge(
      "millrace_sensor_clock_hertz",
      "Clock of a processor.",
      ofSensor(({ clockMhz }) => (clockMhz === null ? null : clockMhz * 1e6)),
    ),
  ];
}

function gauge(name: string, help: string, samples: readonly ValueSample[]): MetricFamily {
  return { name, help, type: "gauge", samples };
}

function toSamples(labels: MetricLabels, value: number | null): ValueSample[] {
  return value === null ? [] : [{ labels, value }];
}

function countStates(runners: readonly MetricRunner[]): ValueSample[] {
  return STATES.map((state) => ({
    labels: { state },
    value: runners.filter((runner) => runner.state === state).length,
  }));
}

function countDevices(runners: readonly MetricRunner[]): ValueSample[] {
  const byKind = Map.groupBy(
    runners.flatMap(({ devices }) => devices),
    ({ kind, software }) => JSON.stringify({ kind, software: String(software) }),
  );
  return [...byKind].map(([labels, found]) => ({ labels: JSON.parse(labels) as MetricLabels, value: found.length }));
}
