import { LIMITS } from "../../protocol/limits.ts";
import { ProblemError } from "../../protocol/problem.ts";
import { invalidRequest } from "../http/bind.ts";
import { readBody } from "../http/read-body.ts";

const ENCODINGS = ["gzip", "deflate"] as const;
export type BodyEncoding = (typeof ENCODINGS)[number];

/** A request's body without its content encoding; what it unpacks to is bounded like any body. */
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
      // The rest is not unpacked: a small body may hold gigabytes.
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

/** The encoding of a reply that a request asks for; null where it asks for none of ours. */
export function acceptedEncoding(request: Request): BodyEncoding | null {
  const accepted = (request.headers.get("accept-encoding") ?? "").toLowerCase();
  return (
    ENCODINGS.find((encoding) => new RegExp(`\\b${encoding}\\b(?!\\s*;\\s*q=0(?![.\\d]*[1-9]))`).test(accepted)) ?? null
  );
}
