import { OIP_DATATYPES, OIP_HEADER_LENGTH, type OipInferReply } from "../../protocol/oip.ts";
import { type Tensor, tensorToJson } from "../../protocol/tensor.ts";
import type { BodyEncoding } from "./decode-body.ts";
import type { OipRequest } from "./read-oip-request.ts";

/** What a reply says beside its tensors. */
export type OipReplyHead = Pick<OipInferReply, "model_name" | "model_version" | "parameters">;

/** The wanted outputs as JSON, raw bytes behind it where these were asked for. */
export async function writeOipReply(
  request: OipRequest,
  head: OipReplyHead,
  tensors: readonly Tensor[],
  encoding: BodyEncoding | null,
): Promise<Response> {
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
  const headers: Record<string, string> = {
    "content-type": raw.length === 0 ? "application/json" : "application/octet-stream",
    ...(raw.length > 0 && { [OIP_HEADER_LENGTH]: String(json.byteLength) }),
  };
  const body = new Blob([json, ...raw]);
  if (encoding === null) return new Response(body, { headers });
  const packed = body.stream().pipeThrough(new CompressionStream(encoding));
  return new Response(packed, { headers: { ...headers, "content-encoding": encoding }, encodeBody: "manual" });
}
