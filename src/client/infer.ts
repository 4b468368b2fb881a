import { policyEndpoints } from "../protocol/policies/policy-endpoints.ts";
import { inferenceEndpoints } from "../protocol/inference/inference-endpoints.ts";
import {
  FRAME_MEDIA_TYPE,
  type InferFrameHeader,
  type InferReply,
  InferReplyHeader,
  type InferRequest,
} from "../protocol/inference/inference.ts";
import type { ActReply, ActRequest } from "../protocol/policies/policy.ts";
import { decodeFrame, encodeFrame, splitTensors } from "../protocol/wire/frame.ts";
import { LIMITS } from "../protocol/wire/limits.ts";
import { ProblemError } from "../protocol/wire/problem.ts";
import type { Tensor } from "../protocol/wire/tensor.ts";
import type { Sendable } from "./call-options.ts";
import type { Client } from "./client.ts";
import { DirectWays } from "./direct-ways.ts";
import { nameOf, parseBy } from "./request-and-reply.ts";

export interface BudgetOptions {
  /** Added to the budget, in milliseconds, for the way to the edge and back; the edge counts from the arrival. */
  readonly marginMs?: number;
  readonly signal?: AbortSignal;
}

/** Room for the way of a request with its body, and of its reply. */
export const REPLY_MARGIN_MS = 2_000;

/**
 * Does work that has to end with a budget: its signal aborts once no reply can come in time any more, or when the
 * caller's does. The edge itself answers when a budget ends, so this is for the case that nothing is heard of it.
 * Throws `budget-exceeded` where the time is over, and the caller's reason where that aborted.
 */
export async function withinBudget<Value>(
  budgetMs: number,
  { marginMs = REPLY_MARGIN_MS, signal }: BudgetOptions,
  work: (signal: AbortSignal) => Promise<Value>,
): Promise<Value> {
  const ending = new AbortController();
  const waitMs = budgetMs + marginMs;
  const detail = `No reply came within the budget of ${budgetMs} ms and ${marginMs} ms for the way.`;
  const timer = setTimeout(() => ending.abort(new ProblemError("budget-exceeded", detail)), waitMs);
  try {
    return await work(signal === undefined ? ending.signal : AbortSignal.any([signal, ending.signal]));
  } finally {
    clearTimeout(timer);
  }
}

type ActInput = Pick<ActRequest, "budgetMs"> & Sendable<ActRequest>;

/** Asks a policy, by its model's name or id, what to do; ends with the budget as `infer` does. */
export function act(client: Client, policy: string, request: ActInput, options: BudgetOptions = {}): Promise<ActReply> {
  return withinBudget(request.budgetMs, options, (signal) =>
    client.call(policyEndpoints.actPolicy, { params: { id: policy }, body: request, signal }),
  );
}

/** An inference whose inputs are tensors of raw little-endian bytes. */
export interface InferFrameRequest extends Pick<InferFrameHeader, "model" | "budgetMs">, BudgetOptions {
  readonly confidence?: InferFrameHeader["confidence"];
  readonly refuseWithinMs?: InferFrameHeader["refuseWithinMs"];
  readonly minFidelity?: InferFrameHeader["minFidelity"];
  readonly runnerId?: InferFrameHeader["runnerId"];
  readonly placementId?: InferFrameHeader["placementId"];
  readonly inputs: readonly Tensor[];
  /**
   * "auto" sends requests straight to the runner once it was reached there, and through the edge before that and after
   * a failure; absent: always through the edge.
   */
  readonly direct?: "auto";
}

/** The reply's header and its tensors, which share one buffer, and the way that it came. */
export interface InferFrameReply {
  readonly header: InferReplyHeader;
  readonly outputs: readonly Tensor[];
  readonly way: "edge" | "direct";
}

/** The direct ways of each client. */
const directWays = new WeakMap<Client, DirectWays>();

function directWaysOf(client: Client): DirectWays {
  const known = directWays.get(client) ?? new DirectWays(client);
  directWays.set(client, known);
  return known;
}

/**
 * Runs a model by the binary form of `POST /v1/infer`: no number passes through text. Gives up once no reply can come
 * within the budget any more.
 */
export async function inferFrame(client: Client, request: InferFrameRequest): Promise<InferFrameReply> {
  const { signal: callers, marginMs, budgetMs } = request;
  const limits = { ...(callers && { signal: callers }), ...(marginMs !== undefined && { marginMs }) };
  return withinBudget(budgetMs, limits, async (signal) => {
    if (request.direct !== "auto") return askEdge(client, request, signal);
    const direct = await directWaysOf(client).infer(request, signal);
    if ("header" in direct) return direct;
    const leftMs = Math.max(LIMITS.minBudgetMs, budgetMs - direct.lostMs);
    return askEdge(client, { ...request, budgetMs: leftMs }, signal);
  });
}

async function askEdge(client: Client, request: InferFrameRequest, signal: AbortSignal): Promise<InferFrameReply> {
  const { inputs, signal: _, marginMs: __, direct: ___, ...header } = request;
  const rawBody = { mediaType: FRAME_MEDIA_TYPE, content: encodeFrame(header, inputs) };
  const headers = { accept: FRAME_MEDIA_TYPE };
  const response = await client.send(inferenceEndpoints.infer, { headers, rawBody, signal });
  const reply = new Uint8Array(await response.arrayBuffer());
  const source = `${nameOf(inferenceEndpoints.infer)} answered a frame`;
  const frame = decodeFrame(reply);
  if (!frame.ok) throw new Error(`${source} that cannot be read: ${frame.message}`);
  const replyHeader = parseBy(InferReplyHeader, frame.header, source);
  const split = splitTensors(replyHeader.tensors, frame.payload);
  if (!split.ok) throw new Error(`${source} that cannot be read: ${split.message}`);
  return { header: replyHeader, outputs: split.tensors, way: "edge" };
}

type InferInput = Pick<InferRequest, "model" | "budgetMs"> & Sendable<InferRequest>;

/**
 * Runs a model on numbers in JSON, and gives up once no reply can come within the budget any more. Throws ProblemError
 * with the edge's refusal; `budget-unattainable` has in `fits` what would do.
 */
export function infer(client: Client, request: InferInput, options: BudgetOptions = {}): Promise<InferReply> {
  return withinBudget(request.budgetMs, options, (signal) =>
    client.call(inferenceEndpoints.infer, { body: request, signal }),
  );
}
