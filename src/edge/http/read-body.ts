import { ByteChunks } from "../../protocol/wire/byte-chunks.ts";
import { type BodyEncoding, encodingOf, openReader, unpackBody } from "../../protocol/wire/content-encoding.ts";
import { LIMITS } from "../../protocol/wire/limits.ts";
import { bodyTooLarge, unsupportedMediaType } from "../../protocol/wire/parse-input.ts";
import { ProblemError } from "../../protocol/wire/problem.ts";
import { endShortTurn, endTurn } from "../turns.ts";
import { BODY_MS, growBodyRoom, takeBodyRoom } from "./body-room.ts";

/** Bytes of an unwanted body that are read and discarded, those of one that came in overload, and for how long. */
const DISCARDED_BYTES = 64 * 2 ** 20;
const OVERLOAD_BYTES = 2 ** 20;
const DISCARDED_MS = 10_000;
/** Longest body that is read as a whole: the platform puts its pieces together in one turn. */
const WHOLE_BYTES = LIMITS.inferBodyBytes;
/** Of a longer one, or one of unknown length: most room of a read; bytes, and reads, between two turns of others. */
const READ_BYTES = 2 ** 18;
const TURN_BYTES = 2 ** 20;
const TURN_READS = 1_000;

/**
 * Reads a body of at most `maxBytes`, packed or not; nothing of a longer one is kept. Throws `unsupported-media-type` for
 * an unknown content encoding, `overloaded` where the isolate has no room for a long one, and `invalid-request` for one
 * that does not come in `BODY_MS`.
 */
export async function readBody(request: Request, maxBytes: number): Promise<Uint8Array<ArrayBuffer>> {
  const body = await inTime(readWhole(request, maxBytes));
  await takeBodyRoom(request, body.byteLength);
  return body;
}

async function inTime<Value>(reading: Promise<Value>): Promise<Value> {
  let timer: ReturnType<typeof setTimeout> | null = null;
  const late = new Promise<never>((_, reject) => {
    const message = `must come within ${BODY_MS / 60_000} minutes`;
    const error = new ProblemError("invalid-request", `The body ${message}.`, { errors: [{ pointer: "#", message }] });
    timer = setTimeout(() => reject(error), BODY_MS);
  });
  return Promise.race([reading, late]).finally(() => clearTimeout(timer));
}

async function readWhole(request: Request, maxBytes: number): Promise<Uint8Array<ArrayBuffer>> {
  const { headers } = request;
  const encoding = encodingOf(headers.get("content-encoding"));
  const declared = headers.get("content-length");
  if (Number(declared) > maxBytes) {
    await discardBody(request);
    throw bodyTooLarge(maxBytes);
  }
  if (encoding !== null) return unpackRequest(request, encoding, maxBytes);
  if (declared !== null) await takeBodyRoom(request, Number(declared));
  if (Number(declared ?? Number.NaN) <= WHOLE_BYTES) return new Uint8Array(await untilItsEnd(request.arrayBuffer()));
  const { chunks, length } = await readChunks(request, maxBytes);
  if (length > maxBytes) throw bodyTooLarge(maxBytes);
  return chunks.join(() => endShortTurn(request));
}

/** Unpacks a body as it comes; what is left of a refused one is discarded. */
async function unpackRequest(
  request: Request,
  encoding: BodyEncoding,
  maxBytes: number,
): Promise<Uint8Array<ArrayBuffer>> {
  const { body } = request;
  const reader = (body ?? new Blob([]).stream()).getReader() as ReadableStreamDefaultReader<Uint8Array>;
  async function* chunks() {
    for (let packedBytes = 0; ;) {
      const { done, value } = await untilItsEnd(reader.read());
      if (done) return;
      packedBytes += value.byteLength;
      // Empty blocks unpack to nothing, however many come.
      if (packedBytes > maxBytes) throw bodyTooLarge(maxBytes);
      yield value;
    }
  }
  try {
    return await unpackBody(chunks(), encoding, maxBytes, async (unpackedBytes) => {
      await growBodyRoom(request, unpackedBytes, maxBytes);
      await endShortTurn(request);
    });
  } catch (error) {
    // As of any unwanted body.
    reader.releaseLock();
    await discard(body, mostDiscarded(error));
    throw error;
  }
}

/** The first `maxBytes` of a body, and its length. */
async function readChunks(request: Request, maxBytes: number): Promise<{ chunks: ByteChunks; length: number }> {
  const chunks = new ByteChunks();
  let [length, turnBytes, turnReads] = [0, 0, 0];
  const stream = (request.body ?? new Blob([]).stream()) as ReadableStream<Uint8Array<ArrayBuffer>>;
  const reader = openReader(stream, Math.min(READ_BYTES, maxBytes));
  for (;;) {
    const { value } = await untilItsEnd(reader.read());
    if (value === undefined) break;
    length += value.byteLength;
    if (length <= maxBytes) {
      await growBodyRoom(request, length, maxBytes).catch(async (error: unknown) => {
        await reader.cancel().catch(() => undefined);
        throw error;
      });
      chunks.add(value);
    } else if (length > DISCARDED_BYTES) {
      await reader.cancel();
      break;
    }
    turnBytes += value.byteLength;
    if (turnBytes < TURN_BYTES && ++turnReads < TURN_READS) continue;
    turnBytes = turnReads = 0;
    await endShortTurn(request);
  }
  return { chunks, length };
}

/**
 * Result of reading a request's body. A client that disconnects meanwhile sent no complete request, which is not our
 * fault.
 */
export async function untilItsEnd<Value>(reading: Promise<Value>): Promise<Value> {
  try {
    return await reading;
  } catch {
    throw new ProblemError("invalid-request", "The body ended before its length.", {
      errors: [{ pointer: "#", message: "must be as long as its length says" }],
    });
  }
}

/**
 * Reads and discards an unread body, within bounds: a client that still writes when the connection ends sees a broken
 * pipe and never the reply. A long one that `error` refuses for overload is cut: reading it would take the time of others.
 */
export async function discardBody({ body, bodyUsed, headers }: Request, error?: unknown): Promise<void> {
  if (bodyUsed) return;
  const most = mostDiscarded(error);
  if (Number(headers.get("content-length")) > most) await body?.cancel().catch(() => undefined);
  else await discard(body, most);
}

function mostDiscarded(error: unknown): number {
  return error instanceof ProblemError && error.problem.code === "overloaded" ? OVERLOAD_BYTES : DISCARDED_BYTES;
}

async function discard(body: ReadableStream<Uint8Array> | null, mostBytes: number): Promise<void> {
  if (body === null) return;
  const reader = body.getReader();
  // What comes slowly would occupy the thread for long.
  const timer = setTimeout(() => void reader.cancel().catch(() => undefined), DISCARDED_MS);
  try {
    for (let length = 0; length <= mostBytes;) {
      const { done, value } = await reader.read();
      if (done) return;
      length += value.byteLength;
    }
    await reader.cancel();
  } catch {
    // The client disconnected: the reply has no reader.
  } finally {
    clearTimeout(timer);
  }
}

/** The media type of a request, without parameters and in lower case. */
export function mediaTypeOf(request: Request): string {
  return (request.headers.get("content-type") ?? "").split(";")[0]?.trim().toLowerCase() ?? "";
}

const OCTETS = "application/octet-stream";

/** The file in a request's body. */
export async function readOctets(request: Request, maxBytes: number): Promise<Uint8Array<ArrayBuffer>> {
  const mediaType = mediaTypeOf(request);
  if (mediaType !== OCTETS) throw unsupportedMediaType(mediaType, [OCTETS]);
  return readBody(request, maxBytes);
}

/**
 * Parses a JSON body; throws a problem for invalid JSON, and for JSON that would need far more memory than its text.
 */
export function parseJson(bytes: Uint8Array): unknown {
  checkParts(bytes);
  try {
    return JSON.parse(decodeText(bytes));
  } catch {
    throw new ProblemError("invalid-request", "The body is not JSON.", {
      errors: [{ pointer: "#", message: "must be JSON in UTF-8" }],
    });
  }
}

/** Parses a request's JSON that may be long: the work before it and behind it is done in other turns. */
export async function parseLongJson(request: Request, bytes: Uint8Array): Promise<unknown> {
  if (bytes.byteLength <= LIMITS.jsonBodyBytes) return parseJson(bytes);
  await endTurn(request);
  const json = parseJson(bytes);
  await endTurn(request);
  return json;
}

/** Parses a body with one JSON text on each line; empty lines do not count. */
export function parseLines(bytes: Uint8Array): unknown[] {
  checkParts(bytes);
  try {
    const lines = decodeText(bytes).split("\n");
    return lines.filter((line) => line.trim() !== "").map((line): unknown => JSON.parse(line));
  } catch {
    throw new ProblemError("invalid-request", "The body is not JSON, line by line.", {
      errors: [{ pointer: "#", message: "must be a JSON text on each line, in UTF-8" }],
    });
  }
}

function decodeText(bytes: Uint8Array): string {
  return new TextDecoder("utf-8", { fatal: true, ignoreBOM: false }).decode(bytes);
}

function checkParts(bytes: Uint8Array): void {
  if (bytes.byteLength <= LIMITS.jsonBodyBytes) return;
  const wrong = findExcess(bytes);
  if (wrong === null) return;
  const message = `has more than ${LIMITS[wrong]} ${PARTS[wrong]}`;
  throw new ProblemError("invalid-request", `The body ${message}.`, { errors: [{ pointer: "#", message }] });
}

const PARTS = {
  jsonNodes: "objects, arrays and fields, by the marks that begin them, those in strings included: send less at once",
  jsonValues: "commas, those in strings included: send fewer numbers at once, or a binary form",
} as const;

const [NODE, VALUE] = [1, 2];
/** What each byte of JSON text begins. */
const MARKS = new Uint8Array(256);
for (const mark of "{[:") MARKS[mark.charCodeAt(0)] = NODE;
MARKS[",".charCodeAt(0)] = VALUE;

/** What JSON text has too many of, if anything; punctuation in strings may inflate it. */
function findExcess(bytes: Uint8Array): keyof typeof PARTS | null {
  let [nodes, values] = [0, 0];
  // An iterator over millions of bytes takes twenty times as long.
  for (let at = 0; at < bytes.length; at++) {
    const mark = MARKS[bytes[at]!];
    if (mark === NODE && ++nodes > LIMITS.jsonNodes) return "jsonNodes";
    if (mark === VALUE && ++values > LIMITS.jsonValues) return "jsonValues";
  }
  return null;
}
