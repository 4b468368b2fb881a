import { createProblem, type Problem, type ProblemCode, ProblemError, toProblem } from "../../protocol/wire/problem.ts";
import type { Tensor } from "../../protocol/wire/tensor.ts";
import { addSpan, type SpanScope } from "../../telemetry/span.ts";
import type { DeviceFleet, FleetDevice } from "./device-fleet.ts";
import type { ModelLoader } from "./model-loader.ts";
import type { Answer, ServerRequest } from "./queue/inference-server.ts";
import type { ServedVariant } from "./queue/model-key.ts";

/** The caller named an existing model; its loss by the process is ours to correct. */
const MODEL_GONE = createProblem("no-placement", "The model is being loaded again.", { retryAfterMs: 500 });

/** Problem of a failed request for its caller; a lost model is loaded again for the next. */
export function explainFailure(
  models: Pick<ModelLoader, "noteFailure">,
  served: ServedVariant,
  error: unknown,
): Problem {
  models.noteFailure(served, error);
  const problem = toProblem(error);
  return problem.code === "not-found" ? MODEL_GONE : problem;
}

/**
 * Traces an answered request by the times in its answer: queued from its arrival, then in a batch, whose upload,
 * computation and readback follow each other.
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

/** Problems of a device that another one may not have. */
const DEVICE_FAILURES: ReadonlySet<ProblemCode> = new Set(["device-lost", "out-of-memory"]);

/**
 * Answers a request on the device of its placement. Where that device is down or fails, ONNX Runtime answers on the
 * CPU, and the answer's faults report it. Once the signal is aborted it does not begin: throws `budget-exceeded`.
 */
export async function serveRequest(
  { fleet, models }: { fleet: Pick<DeviceFleet, "find" | "cpu">; models: Pick<ModelLoader, "ensureReady"> },
  request: ServerRequest & { readonly deviceKey: string },
  tensors: readonly Tensor[],
  arrivedMs: number,
  signal: AbortSignal,
): Promise<Answer> {
  const serveOn = async ({ host, server }: FleetDevice): Promise<Answer> => {
    const { joins, configuration, tenant } = await models.ensureReady(request, host);
    if (signal.aborted) throw new ProblemError("budget-exceeded", "The request ended before it began.");
    signal.addEventListener("abort", () => server.cancel(request.requestId), { once: true });
    return server.serve({ ...request, ...configuration, joins, tenant, signal }, tensors, arrivedMs);
  };
  const placed = fleet.find(request.deviceKey);
  if (placed === fleet.cpu) return serveOn(placed);
  try {
    if (placed.host.isDown) throw new ProblemError("device-lost", `The device ${request.deviceKey} is started again`);
    return await serveOn(placed);
  } catch (error) {
    if (!(error instanceof ProblemError) || !DEVICE_FAILURES.has(error.problem.code)) throw error;
    const { code, detail } = error.problem;
    const answer = await serveOn(fleet.cpu);
    return { ...answer, faults: [{ code, detail, action: "cpu-backend" }, ...(answer.faults ?? [])] };
  }
}
