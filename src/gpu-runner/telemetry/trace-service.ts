import { addSpan, type SpanScope } from "../../telemetry/span.ts";
import type { Answer } from "../serving/inference-server.ts";

/**
 * Tells what became of a request that was answered, by the times that its answer has: in the queue from its arrival on,
 * then in a batch, whose upload, computation and readback follow each other.
 */
export function traceService(
  scope: SpanScope | null,
  startMs: number,
  { times, rows }: Pick<Answer, "times" | "rows">,
): void {
  if (scope === null) return;
  const { queueMs, uploadMs, computeMs, readbackMs } = times;
  const batchMs = startMs + queueMs;
  const computeAtMs = batchMs + uploadMs;
  const readbackAtMs = computeAtMs + computeMs;
  const endMs = readbackAtMs + readbackMs;
  addSpan(scope, { name: "queue", startMs, endMs: batchMs });
  const batch = addSpan(scope, { name: "batch", startMs: batchMs, endMs, attributes: { "millrace.rows": rows } });
  addSpan(batch, { name: "upload", startMs: batchMs, endMs: computeAtMs });
  addSpan(batch, { name: "compute", startMs: computeAtMs, endMs: readbackAtMs });
  addSpan(batch, { name: "readback", startMs: readbackAtMs, endMs });
}
