import { decodeFrame, encodeFrame, splitTensors } from "../../../protocol/wire/frame.ts";
import { createId } from "../../../protocol/wire/id.ts";
import type { PlacedModel } from "../../../protocol/link.ts";
import type { TensorSpec } from "../../../protocol/models/model.ts";
import { countRows, matchInputs, type PointerOf } from "../../../protocol/models/model-inputs.ts";
import { invalidRequest, parseInput } from "../../../protocol/wire/parse-input.ts";
import { ProblemError } from "../../../protocol/wire/problem.ts";
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
  readonly body: Uint8Array<ArrayBuffer>;
  /** On the monotonic clock. */
  readonly arrivedMs: number;
  /** For how long the request may have waited in its socket before; it uses up the budget. */
  readonly unseenMs: number;
  /** Aborted when the caller disconnects. */
  readonly signal: AbortSignal;
  /** Span around the answer; null where the request is not traced. */
  readonly scope: SpanScope | null;
}

/** Budget and tensors of a request, which fit ticket and model. */
interface DirectWork {
  readonly budgetMs: number;
  readonly tensors: readonly Tensor[];
}

export interface DirectAnswer extends Pick<Answer, "times" | "rows" | "faults"> {
  readonly requestId: string;
  readonly tensors: readonly Tensor[];
  readonly totalMs: number;
}

/** Answers a frame with a frame. */
export async function answerDirect(parts: DirectParts, request: DirectRequest): Promise<Uint8Array> {
  const startMs = request.scope?.now() ?? 0;
  const work = readFrame(parts, request.grant, request.body);
  const { requestId, times, rows, faults, tensors, totalMs } = await serveDirect(parts, request, work, startMs);
  const { budgetMs } = work;
  const reply = { requestId, latency: { totalMs, ...times }, batch: rows, budgetMs, budgetMet: totalMs <= budgetMs };
  return encodeFrame({ ...reply, ...(faults && { faults }) }, tensors);
}

/**
 * Serves a request through the same queue as requests from the link, at the latest when its budget ends. The outcome is
 * reported to the edge. `startMs`: start of the service by the span's clock.
 */
export async function serveDirect(
  parts: DirectParts,
  request: DirectRequest,
  { budgetMs, tensors }: DirectWork,
  startMs: number,
): Promise<DirectAnswer> {
  const { grant, arrivedMs, scope } = request;
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
  const ownRows = countRows(mustFindModel(parts, grant).inputs, tensors);
  const { placementId } = grant;
  parts.outcomes.add({ placementId, rows, ownRows, totalMs, times: standsIn ? null : times });
  return { requestId, times, rows, ...(faults && { faults }), tensors: answer.tensors, totalMs };
}

/** The ticket's model. Throws `no-placement` where this runner does not have it. */
export function mustFindModel({ models }: DirectParts, { modelVersionId }: TicketGrant): PlacedModel {
  const model = models.find(modelVersionId);
  if (model === null) throw new ProblemError("no-placement", "This runner does not have the model now.");
  return model;
}

/** Checks the budget of a request against its ticket, and its tensors against the model. */
export function checkWork(
  grant: TicketGrant,
  inputs: readonly TensorSpec[],
  work: DirectWork,
  pointers: { readonly budget: string; readonly of: PointerOf },
): DirectWork {
  if (work.budgetMs > grant.budgetMs) {
    throw invalidRequest([{ pointer: pointers.budget, message: `must be at most ${grant.budgetMs}, the ticket's` }]);
  }
  const errors = matchInputs(inputs, work.tensors, pointers.of);
  if (errors.length > 0) throw invalidRequest(errors);
  return work;
}

/** Serves, or throws `budget-exceeded` at the deadline; the work is dropped then, or when the caller disconnects. */
async function untilDeadline(
  { fleet, models }: DirectParts,
  requestId: string,
  request: DirectRequest & { budgetMs: number; tensors: readonly Tensor[] },
): Promise<Answer> {
  const { grant, arrivedMs, signal, tensors } = request;
  const budgetMs = Math.max(0, request.budgetMs - request.unseenMs);
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
function readFrame(parts: DirectParts, grant: TicketGrant, body: Uint8Array): DirectWork {
  const decoded = decodeFrame(body);
  if (!decoded.ok) throw invalidRequest([{ pointer: "#", message: decoded.message }]);
  const { tensors: headers, budgetMs = grant.budgetMs } = parseInput(DirectFrameHeader, decoded.header);
  const split = splitTensors(headers, decoded.payload);
  if (!split.ok) throw invalidRequest([{ pointer: "#/tensors", message: split.message }]);
  const work = { budgetMs, tensors: split.tensors };
  return checkWork(grant, mustFindModel(parts, grant).inputs, work, {
    budget: "#/budgetMs",
    of: (name) => {
      const index = headers.findIndex((tensor) => tensor.name === name);
      return index < 0 ? "#/tensors" : `#/tensors/${index}`;
    },
  });
}
