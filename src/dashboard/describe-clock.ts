import { Clock } from "../protocol/distribution.ts";
import type { Series } from "../protocol/history.ts";

const CLOCKS: Record<Clock, string> = {
  "gpu-timestamp": "timestamp queries on the device",
  "runner-wall": "the runner's monotonic clock",
  "edge-wall": "the edge's clock, in steps of 1 ms",
};

/** Which clock each time metric is read from, as the protocol defines them. */
const METRIC_CLOCKS: Readonly<Record<string, Clock>> = {
  gpuMs: "gpu-timestamp",
  wallMs: "runner-wall",
  loadMs: "runner-wall",
  serviceMs: "runner-wall",
  queueMs: "runner-wall",
  uploadMs: "runner-wall",
  computeMs: "runner-wall",
  readbackMs: "runner-wall",
  totalMs: "edge-wall",
  edgeMs: "edge-wall",
};

/** The clock behind a series in words: the one its configuration names, else the one of its metric. */
export function describeClock({ metric, configuration }: Series): string {
  const named = Clock.safeParse(configuration.clock);
  const clock = named.success ? named.data : METRIC_CLOCKS[metric];
  return clock === undefined ? "not stated" : CLOCKS[clock];
}
