import { endpoints } from "../protocol/endpoints.ts";
import { decodeFrame, encodeFrame, splitTensors } from "../protocol/frame.ts";
import { FRAME_MEDIA_TYPE, type InferFrameHeader, InferReplyHeader } from "../protocol/inference.ts";
import type { Tensor } from "../protocol/tensor.ts";
import type { Client } from "./client.ts";
import { nameOf, parseBy } from "./read-reply.ts";

/** An inference whose inputs are tensors of raw little-endian bytes. */
export interface InferFrameRequest extends Pick<InferFrameHeader, "model" | "budgetMs"> {
  readonly confidence?: InferFrameHeader["confidence"];
  readonly minFidelity?: InferFrameHeader["minFidelity"];
  readonly runnerId?: InferFrameHeader["runnerId"];
  readonly placementId?: InferFrameHeader["placementId"];
  readonly inputs: readonly Tensor[];
  readonly signal?: AbortSignal;
}

/** The reply's header and its tensors, which share one buffer. */
export interface InferFrameReply {
  readonly header: InferReplyHeader;
  readonly outputs: readonly Tensor[];
}

/** Runs a model by the binary form of `POST /v1/infer`: no number passes through text. */
export async function inferFrame(client: Client, request: InferFrameRequest): Promise<InferFrameReply> {
  const { inputs, signal, ...header } = request;
  const response = await client.send(endpoints.infer, {
    headers: { accept: FRAME_MEDIA_TYPE },
    rawBody: { mediaType: FRAME_MEDIA_TYPE, content: encodeFrame(header, inputs) },
    signal,
  });
  const source = `${nameOf(endpoints.infer)} answered a frame`;
  const frame = decodeFrame(new Uint8Array(await response.arrayBuffer()));
  if (!frame.ok) throw new Error(`${source} that cannot be read: ${frame.message}`);
  const replyHeader = parseBy(InferReplyHeader, frame.header, source);
  const split = splitTensors(replyHeader.tensors, frame.payload);
  if (!split.ok) throw new Error(`${source} that cannot be read: ${split.message}`);
  return { header: replyHeader, outputs: split.tensors };
}
