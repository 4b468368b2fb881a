import { VERSION } from "../../protocol/version.ts";
import type { MetricFamily } from "../../telemetry/metric.ts";
import type { MetricRows } from "../store/metric-store.ts";

/** Metrics of the edge itself and of what it warns of. */
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
