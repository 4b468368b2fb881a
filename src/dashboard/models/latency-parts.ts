import type { Backend } from "../../protocol/hardware.ts";
import type { InferReply, LatencySplit } from "../../protocol/inference.ts";

/** Parts of a way that are drawn alike, predicted or measured. */
export type PartName = "edge" | "link" | "queue" | "upload" | "compute" | "readback" | "service" | "rest";

export interface LatencyPart {
  readonly name: PartName;
  readonly ms: number;
  /** Whose clock it was read on; null of a prediction, and of what is left over. */
  readonly clock: "edge" | "runner" | null;
}

/** Less than this is rounding. */
const LEAST_REST_MS = 0.005;

/** Where a reply's time went, in the order of the way; `rest` is what no part accounts for. The edge alone has one part. */
export function splitLatency(latency: LatencySplit, backend: Backend): LatencyPart[] {
  const edge: LatencyPart = { name: "edge", ms: latency.edgeMs, clock: "edge" };
  if (backend === "edge-wasm") return withRest([edge], latency.totalMs);
  const parts: LatencyPart[] = [
    edge,
    { name: "link", ms: latency.linkMs, clock: "edge" },
    { name: "queue", ms: latency.queueMs, clock: "runner" },
    { name: "upload", ms: latency.uploadMs, clock: "runner" },
    { name: "compute", ms: latency.computeMs, clock: "runner" },
    { name: "readback", ms: latency.readbackMs, clock: "runner" },
  ];
  return withRest(parts, latency.totalMs);
}

/** What a prediction is made of; what its confidence adds to them is the rest. */
export function splitPrediction(prediction: InferReply["prediction"]): LatencyPart[] {
  const parts: LatencyPart[] = [
    { name: "link", ms: prediction.linkMs, clock: null },
    { name: "queue", ms: prediction.queueMs, clock: null },
    { name: "service", ms: prediction.serviceMs, clock: null },
  ];
  return withRest(parts, prediction.latencyMs);
}

function withRest(parts: readonly LatencyPart[], totalMs: number): LatencyPart[] {
  const restMs = totalMs - parts.reduce((sum, { ms }) => sum + ms, 0);
  return restMs > LEAST_REST_MS ? [...parts, { name: "rest", ms: restMs, clock: null }] : [...parts];
}
