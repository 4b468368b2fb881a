import { LIMITS } from "../wire/limits.ts";
import { invalidRequest } from "../wire/parse-input.ts";
import { ProblemError } from "../wire/problem.ts";
import { type Tensor, tensorToJson } from "../wire/tensor.ts";
import { OIP_DATATYPES, OIP_HEADER_LENGTH, type OipInferReply } from "./oip.ts";
import type { OipRequest } from "./read-oip-request.ts";

const ENCODINGS = ["gzip", "deflate"] as const;
type BodyEncoding = (typeof ENCODINGS)[number];

/**
 * A request's body without its content encoding, whose name is that of the header; the decoded size has the limit of
 * any body.
 */
export async function unpackBody(
  body: Uint8Array<ArrayBuffer>,
  contentEncoding: string | null,
): Promise<Uint8Array<ArrayBuffer>> {
  const named = (contentEncoding ?? "identity").trim().toLowerCase();
  if (named === "identity" || named === "") return body;
  const encoding = ENCODINGS.find((known) => known === named);
  if (encoding === undefined) {
    throw invalidRequest([{ pointer: "header/content-encoding", message: "must be gzip, deflate or identity" }]);
  }
  return unpack(body, encoding);
}

async function unpack(body: Uint8Array<ArrayBuffer>, encoding: BodyEncoding): Promise<Uint8Array<ArrayBuffer>> {
  const chunks: Uint8Array<ArrayBuffer>[] = [];
  let length = 0;
  const reader = new Blob([body]).stream().pipeThrough(new DecompressionStream(encoding)).getReader();
  try {
    // Stop decoding at the limit: a small body may hold gigabytes.
    while (length <= LIMITS.inferBodyBytes) {
      const { done, value } = await reader.read();
      if (done) return new Uint8Array(await new Blob(chunks).arrayBuffer());
      length += value.byteLength;
      chunks.push(value);
    }
  } catch {
    throw invalidRequest([{ pointer: "#", message: `is not ${encoding}` }]);
  }
  await reader.cancel().catch(() => undefined);
  const message = `must unpack to at most ${LIMITS.inferBodyBytes} bytes`;
  throw new ProblemError("payload-too-large", `The body ${message}.`, { errors: [{ pointer: "#", message }] });
}

/** Requested encoding of the reply, by the header `Accept-Encoding`; null where we support none of those named. */
export function acceptedEncoding(acceptEncoding: string | null): BodyEncoding | null {
  const accepted = (acceptEncoding ?? "").toLowerCase();
  return (
    ENCODINGS.find((encoding) => new RegExp(`\\b${encoding}\\b(?!\\s*;\\s*q=0(?![.\\d]*[1-9]))`).test(accepted)) ?? null
  );
}

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
  const packed = new Blob([body]).stream().pipeThrough(new CompressionStream(encoding));
  const bytes = new Uint8Array(await new Response(packed).arrayBuffer());
  return { headers: { ...headers, "content-encoding": encoding }, body: bytes };
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
