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

/** Where a reply's time went, in the order of the way; `rest` is what no part accounts for. */
export function splitLatency(latency: LatencySplit): LatencyPart[] {
  const parts: LatencyPart[] = [
    { name: "edge", ms: latency.edgeMs, clock: "edge" },
    { name: "link", ms: latency.linkMs, clock: "edge" },
    { name: "queue", ms: latency.queueMs, clock: "runner" },
    { name: "upload", ms: latency.uploadMs, clock: "runner" },
    { name: "compute", ms: latency.computeMs, clock: "runner" },
    { name: "readback", ms: latency.readbackMs, clock: "runner" },
  ];
  const restMs = latency.totalMs - parts.reduce((sum, { ms }) => sum + ms, 0);
  return restMs > LEAST_REST_MS ? [...parts, { name: "rest", ms: restMs, clock: null }] : parts;
}

/** What a prediction is made of; its confidence adds up to more than its parts, which is the rest. */
export function splitPrediction(prediction: InferReply["prediction"]): LatencyPart[] {
  const parts: LatencyPart[] = [
    { name: "link", ms: prediction.linkMs, clock: null },
    { name: "queue", ms: prediction.queueMs, clock: null },
    { name: "service", ms: prediction.serviceMs, clock: null },
  ];
  const restMs = prediction.latencyMs - parts.reduce((sum, { ms }) => sum + ms, 0);
  return restMs > LEAST_REST_MS ? [...parts, { name: "rest", ms: restMs, clock: null }] : parts;
}
