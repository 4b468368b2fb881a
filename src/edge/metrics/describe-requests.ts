import { countUpTo } from "../../stats/distribution/read-sketch.ts";
import type { MetricFamily, MetricLabels, SummarySample, ValueSample } from "../../telemetry/metric.ts";
import type { RequestPlace, RequestSketch, RequestSum } from "../store/history/metric-store.ts";

/** Bounds of latencies, in milliseconds. */
const BOUNDS_MS = [1, 2.5, 5, 10, 25, 50, 100, 250, 500, 1_000, 2_500, 5_000, 10_000] as const;
const PARTS = ["edge", "link", "queue", "upload", "compute", "readback"] as const;

/** Requests in the history. */
interface Requests {
  readonly sums: readonly RequestSum[];
  readonly sketches: readonly RequestSketch[];
}

/** Metrics of all requests in the history. */
export function describeRequests({ sums, sketches }: Requests): MetricFamily[] {
  const of = (wanted: string) => sums.filter(({ metric }) => metric === wanted);
  const counts = (metric: string) => of(metric).map((each) => ({ labels: labelsOf(each), value: each.count }));
  return [
    {
      name: "millrace_inference_answered_total",
      help: "Inference requests that were answered, by where.",
      type: "counter",
      samples: counts("rows"),
    },
    {
      name: "millrace_inference_lost_total",
      help: "Attempts at inference requests that got no answer from where they were sent.",
      type: "counter",
      samples: counts("lostMs"),
    },
    {
      name: "millrace_inference_promised_total",
      help: "Attempts at inference requests that were admitted with a promise to keep the budget.",
      type: "counter",
      samples: mergeValues(of("inTime"), ({ count }) => count),
    },
    {
      name: "millrace_inference_in_budget_total",
      help: "Those of millrace_inference_promised_total that were answered within their budget: the goodput.",
      type: "counter",
      samples: mergeValues(of("inTime"), ({ sum }) => Math.round(sum)),
    },
    {
      name: "millrace_inference_rows_total",
      help: "Rows of inference requests that were answered.",
      type: "counter",
      samples: of("rows").map((each) => ({ labels: labelsOf(each), value: each.sum })),
    },
    {
      name: "millrace_inference_unanswered_total",
      help: "Inference requests that ended without an answer, by the problem's code: budget-exceeded is late.",
      type: "counter",
      samples: sums
        .filter(({ metric }) => metric.startsWith("refused."))
        .map(({ project, model, metric, count }) => ({
          labels: { project, model, reason: metric.slice(8) },
          value: count,
        })),
    },
    {
      name: "millrace_inference_seconds",
      help: "From arrival to reply, by the edge's clock (the runner's of direct requests), attempts that were lost among them.",
      type: "histogram",
      samples: mergeSketches(sketches),
    },
    {
      name: "millrace_inference_part_seconds",
      help: "Parts of answered requests; link is the round trip between edge and runner, less what the runner did.",
      type: "summary",
      samples: PARTS.flatMap((part) => of(`${part}Ms`).map((each) => toPart(part, each))),
    },
  ];
}

function labelsOf({ project, model, variant, backend, hardware }: RequestPlace): MetricLabels {
  return { project, model, variant: variant ?? "", backend: backend ?? "", hardware: hardware ?? "" };
}

function toPart(part: string, sum: RequestSum): SummarySample {
  return { labels: { ...labelsOf(sum), part }, count: sum.count, sum: sum.sum / 1_000 };
}

function mergeValues(sums: readonly RequestSum[], value: (sum: RequestSum) => number): ValueSample[] {
  return sums.map((each) => ({ labels: labelsOf(each), value: value(each) }));
}

function mergeSketches(sketches: readonly RequestSketch[]) {
  const byPlace = Map.groupBy(sketches, (each) => JSON.stringify(labelsOf(each)));
  return [...byPlace.values()].map((parts) => {
    const counted = parts.map(({ sketch }) => countUpTo(sketch, BOUNDS_MS));
    const add = (index: number) => counted.reduce((sum, counts) => sum + (counts[index] ?? 0), 0);
    return {
      labels: labelsOf(parts[0]!),
      buckets: BOUNDS_MS.map((boundMs, index) => ({ upTo: boundMs / 1_000, count: add(index) })),
      count: parts.reduce((sum, { count }) => sum + count, 0),
      sum: parts.reduce((sum, part) => sum + part.sum, 0) / 1_000,
    };
  });
}
