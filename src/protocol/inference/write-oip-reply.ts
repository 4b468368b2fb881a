import { type BodyEncoding, packBody } from "../wire/content-encoding.ts";
import { type Tensor, tensorToJson } from "../wire/tensor.ts";
import { OIP_DATATYPES, OIP_HEADER_LENGTH, type OipInferReply } from "./oip.ts";
import type { OipRequest } from "./read-oip-request.ts";

/** Fields of a reply beside its tensors. */
export type OipReplyHead = Pick<OipInferReply, "model_name" | "model_version" | "parameters">;

/** A reply in its encoding. */
export interface OipReply {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array<ArrayBuffer>;
}

/** The requested outputs as JSON, with raw bytes behind it for those requested so. */
export async function writeOipReply(
  request: Pick<OipRequest, "id" | "outputs" | "isBinary">,
  head: OipReplyHead,
  tensors: readonly Tensor[],
  encoding: BodyEncoding | null,
): Promise<OipReply> {
  const raw: Uint8Array[] = [];
  const outputs = tensors.flatMap((tensor): OipInferReply["outputs"] => {
    const isBinary = request.outputs === null ? request.isBinary : request.outputs.get(tensor.name);
    if (isBinary === undefined) return [];
    const about = { name: tensor.name, datatype: OIP_DATATYPES[tensor.dtype], shape: [...tensor.shape] };
    if (!isBinary) return [{ ...about, data: tensorToJson(tensor).data }];
    raw.push(tensor.bytes);
    return [{ ...about, parameters: { binary_data_size: tensor.bytes.byteLength } }];
  });
  const reply = { ...head, ...(request.id !== undefined && { id: request.id }), outputs };
  const json = new TextEncoder().encode(JSON.stringify(reply));
  const headers = {
    "content-type": raw.length === 0 ? "application/json" : "application/octet-stream",
    ...(raw.length > 0 && { [OIP_HEADER_LENGTH]: String(json.byteLength) }),
  };
  const body = join([json, ...raw]);
  if (encoding === null) return { headers, body };
  return { headers: { ...headers, "content-encoding": encoding }, body: await packBody(body, encoding) };
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
