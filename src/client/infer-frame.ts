import { endpoints } from "../protocol/endpoints.ts";
import { decodeFrame, encodeFrame, splitTensors } from "../protocol/frame.ts";
import { FRAME_MEDIA_TYPE, type InferFrameHeader, InferReplyHeader } from "../protocol/inference.ts";
import type { Tensor } from "../protocol/tensor.ts";
import type { Client } from "./client.ts";
import { nameOf, parseBy } from "./read-reply.ts";
import { type BudgetOptions, withinBudget } from "./within-budget.ts";

/** An inference whose inputs are tensors of raw little-endian bytes. */
export interface InferFrameRequest extends Pick<InferFrameHeader, "model" | "budgetMs">, BudgetOptions {
  readonly confidence?: InferFrameHeader["confidence"];
  readonly minFidelity?: InferFrameHeader["minFidelity"];
  readonly runnerId?: InferFrameHeader["runnerId"];
  readonly placementId?: InferFrameHeader["placementId"];
  readonly inputs: readonly Tensor[];
}

/** The reply's header and its tensors, which share one buffer. */
export interface InferFrameReply {
  readonly header: InferReplyHeader;
  readonly outputs: readonly Tensor[];
}

/**
 * Runs a model by the binary form of `POST /v1/infer`: no number passes through text. Gives up once no reply can come
 * within the budget any more.
 */
export async function inferFrame(client: Client, request: InferFrameRequest): Promise<InferFrameReply> {
  const { inputs, signal: callers, marginMs, ...header } = request;
  const rawBody = { mediaType: FRAME_MEDIA_TYPE, content: encodeFrame(header, inputs) };
  const limits = { ...(callers && { signal: callers }), ...(marginMs !== undefined && { marginMs }) };
  const reply = await withinBudget(header.budgetMs, limits, async (signal) => {
    const response = await client.send(endpoints.infer, { headers: { accept: FRAME_MEDIA_TYPE }, rawBody, signal });
    return new Uint8Array(await response.arrayBuffer());
  });
  const source = `${nameOf(endpoints.infer)} answered a frame`;
  const frame = decodeFrame(reply);
  if (!frame.ok) throw new Error(`${source} that cannot be read: ${frame.message}`);
  const replyHeader = parseBy(InferReplyHeader, frame.header, source);
  const split = splitTensors(replyHeader.tensors, frame.payload);
  if (!split.ok) throw new Error(`${source} that cannot be read: ${split.message}`);
  return { header: replyHeader, outputs: split.tensors };
}
