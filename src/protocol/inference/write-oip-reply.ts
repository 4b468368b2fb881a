import { type BodyEncoding, packBody } from "../wire/content-encoding.ts";
import { type Tensor, TensorData } from "../wire/tensor.ts";
import { OIP_DATATYPES, OIP_HEADER_LENGTH, type OipInferReply } from "./oip.ts";
import type { OipRequest } from "./read-oip-request.ts";

/** Fields of a reply beside its tensors. */
export type OipReplyHead = Pick<OipInferReply, "model_name" | "model_version" | "parameters">;

/** A reply in its encoding. */
export interface OipReply {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array<ArrayBuffer>;
}

/** A reply that is not written yet: its JSON, and the bytes behind it. */
export interface OipReplyParts {
  readonly json: object;
  readonly raw: readonly Uint8Array[];
}

/** The requested outputs as JSON, with raw bytes behind it for those requested so. */
export function describeOipReply(
  request: Pick<OipRequest, "id" | "outputs" | "isBinary">,
  head: OipReplyHead,
  tensors: readonly Tensor[],
): OipReplyParts {
  const raw: Uint8Array[] = [];
  const outputs = tensors.flatMap((tensor): OipInferReply["outputs"] => {
    const isBinary = request.outputs === null ? request.isBinary : request.outputs.get(tensor.name);
    if (isBinary === undefined) return [];
    const about = { name: tensor.name, datatype: OIP_DATATYPES[tensor.dtype], shape: [...tensor.shape] };
    if (!isBinary) return [{ ...about, data: new TensorData(tensor) as never }];
    raw.push(tensor.bytes);
    return [{ ...about, parameters: { binary_data_size: tensor.bytes.byteLength } }];
  });
  return { json: { ...head, ...(request.id !== undefined && { id: request.id }), outputs }, raw };
}

/** The reply as a whole. */
export async function writeOipReply({ json, raw }: OipReplyParts, encoding: BodyEncoding | null): Promise<OipReply> {
  const text = new TextEncoder().encode(JSON.stringify(json));
  const headers = oipHeaders(text.byteLength, raw, encoding);
  const body = join([text, ...raw]);
  return { headers, body: encoding === null ? body : await packBody(body, encoding) };
}

/** Headers of a reply whose JSON has so many bytes. */
export function oipHeaders(
  jsonBytes: number,
  raw: readonly Uint8Array[],
  encoding: BodyEncoding | null,
): Record<string, string> {
  return {
    "content-type": raw.length === 0 ? "application/json" : "application/octet-stream",
    ...(raw.length > 0 && { [OIP_HEADER_LENGTH]: String(jsonBytes) }),
    ...(encoding !== null && { "content-encoding": encoding }),
  };
}

function join(parts: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const joined = new Uint8Array(parts.reduce((length, part) => length + part.byteLength, 0));
  let offset = 0;
  for (const part of parts) {
    joined.set(part, offset);
    offset += part.byteLength;
  }
  return joined;
}
