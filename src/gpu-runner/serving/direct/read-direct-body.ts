import type { IncomingMessage } from "node:http";
import { FRAME_MEDIA_TYPE } from "../../../protocol/inference/inference.ts";
import { type BodyEncoding, encodingOf, unpackBody } from "../../../protocol/wire/content-encoding.ts";
import { LIMITS } from "../../../protocol/wire/limits.ts";
import { bodyTooLarge, unsupportedMediaType } from "../../../protocol/wire/parse-input.ts";
import { ProblemError } from "../../../protocol/wire/problem.ts";

/** Limits for reading the rest of an unwanted body: bytes and time. */
const DISCARDED_BYTES = 16 * 2 ** 20;
const DISCARD_MS = 1_000;

/** Body of a request; null where it is longer than `maxBytes`. Rejects where the caller disconnects. */
function takeBody(request: IncomingMessage, maxBytes: number): Promise<Uint8Array<ArrayBuffer> | null> {
  const { promise, resolve, reject } = Promise.withResolvers<Uint8Array<ArrayBuffer> | null>();
  const chunks: Buffer<ArrayBuffer>[] = [];
  let length = 0;
  request.on("data", (chunk: Buffer<ArrayBuffer>) => {
    length += chunk.byteLength;
    if (length <= maxBytes) chunks.push(chunk);
    else resolve(null);
  });
  request.once("end", () => {
    const [only] = chunks;
    resolve(chunks.length === 1 && only !== undefined ? only : Buffer.concat(chunks));
  });
  request.once("close", () => reject(new Error("the caller went away")));
  return promise;
}

/** Reads the rest of a body, within limits: a caller that is still writing does not read the reply. */
export async function discardBody(request: IncomingMessage): Promise<void> {
  if (request.readableEnded || request.destroyed) return;
  const { promise, resolve } = Promise.withResolvers<void>();
  let length = 0;
  request.on("data", (chunk: Buffer) => {
    length += chunk.byteLength;
    if (length > DISCARDED_BYTES) resolve();
  });
  for (const event of ["end", "close"]) request.once(event, () => resolve());
  const timer = setTimeout(resolve, DISCARD_MS);
  await promise;
  clearTimeout(timer);
}

/** Reads and unpacks the whole body; throws `budget-exceeded` where it takes longer than the budget. */
export async function readBody(request: IncomingMessage, budgetMs: number): Promise<Uint8Array<ArrayBuffer>> {
  const encoding = encodingIn(request);
  const { promise: late, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(
    () => reject(new ProblemError("budget-exceeded", "The body did not come within the budget.")),
    budgetMs,
  );
  try {
    const body = await Promise.race([takeBody(request, LIMITS.inferBodyBytes), late]);
    if (body === null) throw bodyTooLarge(LIMITS.inferBodyBytes);
    if (encoding === null) return body;
    return await Promise.race([unpackBody([body], encoding, LIMITS.inferBodyBytes), late]);
  } finally {
    clearTimeout(timer);
  }
}

export function assertFrame({ headers }: IncomingMessage): void {
  const mediaType = headers["content-type"]?.split(";")[0]?.trim().toLowerCase() ?? "";
  if (mediaType !== FRAME_MEDIA_TYPE) throw unsupportedMediaType(mediaType, [FRAME_MEDIA_TYPE]);
}

/** Refuses a body by its declared size or its content encoding, before any of it is read. */
export function assertReadable(request: IncomingMessage): void {
  if (Number(request.headers["content-length"] ?? 0) > LIMITS.inferBodyBytes) throw bodyTooLarge(LIMITS.inferBodyBytes);
  encodingIn(request);
}

function encodingIn({ headers }: IncomingMessage): BodyEncoding | null {
  return encodingOf(headers["content-encoding"] ?? null);
}
