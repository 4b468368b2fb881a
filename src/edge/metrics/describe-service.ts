import { VERSION } from "../../protocol/wire/release.ts";
import type { MetricFamily } from "../../telemetry/metric.ts";
import type { JobCount } from "../queue/queue-rpc.ts";
import type { MetricRows } from "../store/history/metric-store.ts";

const OPEN: ReadonlySet<JobCount["state"]> = new Set(["queued", "leased"]);

/** Metrics of the queue. */
export function describeJobs(counts: readonly JobCount[], unreadable: number, nowMs: number): MetricFamily[] {
  const open = counts.filter(({ state }) => OPEN.has(state));
  return [
    {
      name: "millrace_jobs",
      help: "Jobs that wait (queued) or run (leased).",
      type: "gauge",
      samples: open.map(({ kind, state, project, count }) => ({
        labels: { kind, state, project: project ?? "" },
        value: count,
      })),
    },
    {
      name: "millrace_job_oldest_age_seconds",
      help: "Since the oldest job that waits or runs was created.",
      type: "gauge",
      samples: open.map(({ kind, state, project, oldestAtMs }) => ({
        labels: { kind, state, project: project ?? "" },
        value: Math.max(0, nowMs - (oldestAtMs ?? nowMs)) / 1_000,
      })),
    },
    {
      name: "millrace_jobs_unreadable",
      help: "Jobs of a newer release that this one met and left out since its queue started.",
      type: "gauge",
      samples: [{ labels: {}, value: unreadable }],
    },
    {
      name: "millrace_jobs_ended_total",
      help: "Jobs that came to their end, by how.",
      type: "counter",
      samples: counts
        .filter(({ state }) => !OPEN.has(state))
        .map(({ kind, state, count }) => ({ labels: { kind, state }, value: count })),
    },
  ];
}

/** Metrics of the edge itself and of its warnings. */
export function describeService({
  alerts,
  isWithoutSketches,
  droppedSeries,
}: Pick<MetricRows, "alerts" | "isWithoutSketches" | "droppedSeries">): MetricFamily[] {
  return [
    {
      name: "millrace_build_info",
      help: "One, with the edge's version.",
      type: "gauge",
      samples: [{ labels: { version: VERSION }, value: 1 }],
    },
    {
      name: "millrace_alerts",
      help: "Alerts, by project, state and direction.",
      type: "gauge",
      samples: alerts.map(({ project, state, direction, count }) => ({
        labels: { project, state, direction },
        value: count,
      })),
    },
    {
      name: "millrace_metrics_without_latencies",
      help: "One where millrace_inference_seconds is left out, since the history has more of it than one answer reads.",
      type: "gauge",
      samples: [{ labels: {}, value: Number(isWithoutSketches) }],
    },
    {
      name: "millrace_metrics_unread_series",
      help: "Series of requests that no metric counts, since the history has more than one answer reads; the newest ones.",
      type: "gauge",
      samples: [{ labels: {}, value: droppedSeries }],
    },
  ];
}
