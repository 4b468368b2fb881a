import { decodeFrame, encodeFrame, splitTensors } from "../../../protocol/wire/frame.ts";
import { createId } from "../../../protocol/wire/id.ts";
import { matchInputs } from "../../../protocol/models/model-inputs.ts";
import { type FieldError, ProblemError, toPointerPart } from "../../../protocol/wire/problem.ts";
import type { Tensor } from "../../../protocol/wire/tensor.ts";
import { DirectFrameHeader, type DirectOutcome, type TicketGrant } from "../../../protocol/inference/ticket.ts";
import type { DeviceFleet } from "../device-fleet.ts";
import type { SpanScope } from "../../../telemetry/span.ts";
import { explainFailure, serveRequest, traceService } from "../serve-request.ts";
import type { Answer } from "../queue/inference-server.ts";
import type { ModelLoader } from "../model-loader.ts";

export interface DirectParts {
  readonly fleet: Pick<DeviceFleet, "find" | "cpu">;
  readonly models: Pick<ModelLoader, "ensureReady" | "find" | "noteFailure">;
  readonly outcomes: { add(outcome: DirectOutcome): void };
}

/** Request with a valid ticket. */
export interface DirectRequest {
  readonly grant: TicketGrant;
  readonly body: Uint8Array;
  /** On the monotonic clock. */
  readonly arrivedMs: number;
  /** Aborted when the caller disconnects. */
  readonly signal: AbortSignal;
  /** Span around the answer; null where the request is not traced. */
  readonly scope: SpanScope | null;
}

/**
 * Answers a frame with a frame, through the same queue as requests from the link, at the latest when its budget ends.
 * The outcome is reported to the edge.
 */
export async function answerDirect(parts: DirectParts, request: DirectRequest): Promise<Uint8Array> {
  const { grant, arrivedMs, scope } = request;
  const startMs = scope?.now() ?? 0;
  const { budgetMs, tensors } = readFrame(parts, grant, request.body);
  const requestId = createId("request");
  let answer: Answer;
  try {
    answer = await untilDeadline(parts, requestId, { ...request, budgetMs, tensors });
  } catch (error) {
    const problem = explainFailure(parts.models, grant, error);
    throw problem.code === "internal" ? error : new ProblemError(problem.code, problem.detail, problem);
  }
  traceService(scope, startMs, answer);
  const { times, rows, faults } = answer;
  const totalMs = performance.now() - arrivedMs;
  // Times of a substitute device do not measure the placement.
  const standsIn = faults?.some(({ action }) => action === "cpu-backend") ?? false;
  parts.outcomes.add({ placementId: grant.placementId, rows, totalMs, times: standsIn ? null : times });
  const reply = { requestId, latency: { totalMs, ...times }, batch: rows, budgetMs, budgetMet: totalMs <= budgetMs };
  return encodeFrame({ ...reply, ...(faults && { faults }) }, answer.tensors);
}

/** Serves, or throws `budget-exceeded` at the deadline; the work is dropped then, or when the caller disconnects. */
async function untilDeadline(
  { fleet, models }: DirectParts,
  requestId: string,
  { grant, arrivedMs, signal, budgetMs, tensors }: DirectRequest & { budgetMs: number; tensors: readonly Tensor[] },
): Promise<Answer> {
  const { promise: ended, reject } = Promise.withResolvers<never>();
  const dropping = new AbortController();
  const drop = () => {
    dropping.abort();
    reject(new ProblemError("budget-exceeded", "No answer came within the budget."));
  };
  const timer = setTimeout(drop, Math.max(0, budgetMs - (performance.now() - arrivedMs)));
  signal.addEventListener("abort", drop, { once: true });
  try {
    const served = { requestId, ...grant, budgetMs };
    const answer = serveRequest({ fleet, models }, served, tensors, arrivedMs, dropping.signal);
    return await Promise.race([answer, ended]);
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", drop);
  }
}

/** Budget and tensors of a frame, checked against ticket and model. */
function readFrame(
  { models }: DirectParts,
  grant: TicketGrant,
  body: Uint8Array,
): { budgetMs: number; tensors: Tensor[] } {
  const decoded = decodeFrame(body);
  if (!decoded.ok) throw invalid([{ pointer: "#", message: decoded.message }]);
  const parsed = DirectFrameHeader.safeParse(decoded.header);
  if (!parsed.success) {
    throw invalid(
      parsed.error.issues.map(({ path, message }) => ({
        pointer: ["#", ...path.map(toPointerPart)].join("/"),
        message,
      })),
    );
  }
  const { tensors: headers, budgetMs = grant.budgetMs } = parsed.data;
  if (budgetMs > grant.budgetMs) {
    throw invalid([{ pointer: "#/budgetMs", message: `must be at most ${grant.budgetMs}, the ticket's` }]);
  }
  const split = splitTensors(headers, decoded.payload);
  if (!split.ok) throw invalid([{ pointer: "#/tensors", message: split.message }]);
  const model = models.find(grant.modelVersionId);
  if (model === null) throw new ProblemError("no-placement", "This runner does not have the model now.");
  const errors = matchInputs(model.inputs, split.tensors, (name) => {
    const index = headers.findIndex((tensor) => tensor.name === name);
    return index < 0 ? "#/tensors" : `#/tensors/${index}`;
  });
  if (errors.length > 0) throw invalid(errors);
  return { budgetMs, tensors: split.tensors };
}

function invalid(errors: FieldError[]): ProblemError {
  const named = errors.map(({ pointer, message }) => `${pointer}: ${message}`).join("; ");
  return new ProblemError("invalid-request", named.slice(0, 1_000), { errors: errors.slice(0, 32) });
}
