import { OIP_DATATYPES, OIP_HEADER_LENGTH, type OipInferReply } from "../../../protocol/inference/oip.ts";
import { LIMITS } from "../../../protocol/wire/limits.ts";
import { invalidRequest } from "../../../protocol/wire/parse-input.ts";
import { ProblemError } from "../../../protocol/wire/problem.ts";
import { type Tensor, tensorToJson } from "../../../protocol/wire/tensor.ts";
import { readBody } from "../../http/read-body.ts";
import type { OipRequest } from "./read-oip-request.ts";

const ENCODINGS = ["gzip", "deflate"] as const;
type BodyEncoding = (typeof ENCODINGS)[number];

/** A request's body without its content encoding; the decoded size has the limit of any body. */
export async function decodeBody(request: Request): Promise<Uint8Array<ArrayBuffer>> {
  const body = await readBody(request, LIMITS.inferBodyBytes);
  const named = (request.headers.get("content-encoding") ?? "identity").trim().toLowerCase();
  if (named === "identity" || named === "") return body;
  const encoding = ENCODINGS.find((known) => known === named);
  if (encoding === undefined) {
    throw invalidRequest([{ pointer: "header/content-encoding", message: "must be gzip, deflate or identity" }]);
  }
  return unpack(body, encoding);
}

async function unpack(body: Uint8Array<ArrayBuffer>, encoding: BodyEncoding): Promise<Uint8Array<ArrayBuffer>> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  try {
    for await (const chunk of new Blob([body]).stream().pipeThrough(new DecompressionStream(encoding))) {
      length += chunk.byteLength;
      // Stop decoding here: a small body may hold gigabytes.
      if (length > LIMITS.inferBodyBytes) break;
      chunks.push(chunk);
    }
  } catch {
    throw invalidRequest([{ pointer: "#", message: `is not ${encoding}` }]);
  }
  if (length > LIMITS.inferBodyBytes) {
    const message = `must unpack to at most ${LIMITS.inferBodyBytes} bytes`;
    throw new ProblemError("payload-too-large", `The body ${message}.`, { errors: [{ pointer: "#", message }] });
  }
  return new Uint8Array(await new Blob(chunks).arrayBuffer());
}

/** Requested encoding of the reply; null where we support none of those named. */
export function acceptedEncoding(request: Request): BodyEncoding | null {
  const accepted = (request.headers.get("accept-encoding") ?? "").toLowerCase();
  return (
    ENCODINGS.find((encoding) => new RegExp(`\\b${encoding}\\b(?!\\s*;\\s*q=0(?![.\\d]*[1-9]))`).test(accepted)) ?? null
  );
}

/** Fields of a reply beside its tensors. */
export type OipReplyHead = Pick<OipInferReply, "model_name" | "model_version" | "parameters">;

/** The requested outputs as JSON, with raw bytes behind it for those requested so. */
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
