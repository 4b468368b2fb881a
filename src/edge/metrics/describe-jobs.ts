import type { MetricFamily } from "../../telemetry/metric.ts";
import type { JobCount } from "../queue/job-tally.ts";

const OPEN: ReadonlySet<JobCount["state"]> = new Set(["queued", "leased"]);

/** Metrics of the queue. */
export function describeJobs(counts: readonly JobCount[], nowMs: number): MetricFamily[] {
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
      name: "millrace_jobs_ended_total",
      help: "Jobs that came to their end, by how.",
      type: "counter",
      samples: counts
        .filter(({ state }) => !OPEN.has(state))
        .map(({ kind, state, count }) => ({ labels: { kind, state }, value: count })),
    },
  ];
}
