import { encodingOf } from "../../protocol/wire/content-encoding.ts";
import { bodyTooLarge, invalidRequest, unsupportedMediaType } from "../../protocol/wire/parse-input.ts";
import { settlePut } from "../store/artifact-store.ts";
import { discardBody, mediaTypeOf } from "./read-body.ts";

/** Limits of a body. */
interface BodyLimits {
  readonly mediaTypes: readonly string[];
  readonly maxBytes: number;
}

/**
 * Streams a request's body into the bucket, since it may exceed a Worker's memory. `put` must have the digest checked.
 * Throws `invalid-request` for a missing length or a wrong digest, and `payload-too-large` before it reads any byte.
 */
export async function storeBody(
  request: Request,
  digest: string,
  limits: BodyLimits,
  put: (bytes: ReadableStream) => Promise<unknown>,
): Promise<{ mediaType: string; sizeBytes: number }> {
  const { mediaType, sizeBytes } = await checkHead(request, limits);
  // R2 requires the length in advance; a body shorter or longer than declared fails here.
  const { readable, writable } = new FixedLengthStream(sizeBytes);
  const body = request.body ?? new Blob([]).stream();
  const [stored] = await settlePut(put(readable), (signal) => body.pipeTo(writable, { signal }));
  if (stored.status === "fulfilled") return { mediaType, sizeBytes };
  await discardBody(request);
  if (!/checksum|digest|sha-?256|length|bytes/i.test(String(stored.reason))) throw stored.reason;
  throw invalidRequest([{ pointer: "#", message: `is not ${digest}` }]);
}

/** The body's size and digest, by the head of its request. */
export async function checkHead(
  request: Request,
  { mediaTypes, maxBytes }: BodyLimits,
): Promise<{ mediaType: string; sizeBytes: number }> {
  const mediaType = mediaTypeOf(request);
  if (!mediaTypes.includes(mediaType)) throw unsupportedMediaType(mediaType, mediaTypes);
  // Size and digest are those of the bytes that are sent.
  encodingOf(request.headers.get("content-encoding"), []);
  const declared = request.headers.get("content-length");
  const sizeBytes = Number(declared ?? Number.NaN);
  if (!Number.isInteger(sizeBytes) || sizeBytes < 0) {
    throw invalidRequest([{ pointer: "header/content-length", message: "must say how long the body is" }]);
  }
  if (sizeBytes <= maxBytes) return { mediaType, sizeBytes };
  await discardBody(request);
  throw bodyTooLarge(maxBytes);
}
