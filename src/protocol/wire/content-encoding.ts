import { ByteChunks } from "./byte-chunks.ts";
import { bodyTooLarge, invalidRequest } from "./parse-input.ts";
import { ProblemError } from "./problem.ts";

/** Content codings of bodies, both ways. Source: RFC 9110, section 8.4.1; `deflate` is zlib's format, RFC 1950. */
const ENCODINGS = ["gzip", "deflate"] as const;
export type BodyEncoding = (typeof ENCODINGS)[number];

/**
 * Bytes that are unpacked at a time: deflate makes at most 1,032 times as many of them. Few at first and where they
 * become very many, more elsewhere, since each slice takes some ten microseconds.
 */
const SLICE_BYTES = { least: 256, most: 4_096 } as const;
/** Room of one read: without it, a Worker reads 4 KiB at a time, which takes several times as long in all. */
const READ_BYTES = 65_536;
/** Room of the first read: nothing may come for long, or little. */
const FIRST_READ_BYTES = 16_384;
/** Bytes that are read or unpacked between two pauses: about a millisecond. */
const PAUSE_BYTES = 262_144;

/**
 * The coding of a request's body, by the header `Content-Encoding`; null where it has none. Throws
 * `unsupported-media-type` for a coding that is not among `known`, naming those that are.
 * Source: RFC 9110, section 15.5.16.
 */
export function encodingOf(
  contentEncoding: string | null,
  known: readonly BodyEncoding[] = ENCODINGS,
): BodyEncoding | null {
  const named = (contentEncoding ?? "").trim().toLowerCase();
  if (named === "" || named === "identity") return null;
  const encoding = known.find((each) => each === named.replace(/^x-/, ""));
  if (encoding !== undefined) return encoding;
  const accepted = [...known, "identity"];
  const message = `must be ${accepted.join(" or ")}, not ${named.slice(0, 64)}`;
  throw new ProblemError(
    "unsupported-media-type",
    `The content encoding ${message}.`,
    { errors: [{ pointer: "header/content-encoding", message }] },
    { "accept-encoding": accepted.join(", ") },
  );
}

/**
 * The content of a packed body, of at most `maxBytes`. Throws `payload-too-large` as soon as it is longer, and
 * `invalid-request` for a body that is damaged or ends early. A `ProblemError` of `packed` passes through. `pause` lets
 * others work, and receives the number of unpacked bytes: a whole body is unpacked without one turn of the event loop.
 */
export async function unpackBody(
  packed: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  encoding: BodyEncoding,
  maxBytes: number,
  pause: (unpackedBytes: number) => Promise<void> = async () => undefined,
): Promise<Uint8Array<ArrayBuffer>> {
  const { readable, writable } = new DecompressionStream(encoding);
  const reader = openReader(readable, READ_BYTES);
  const chunks = new ByteChunks();
  let length = 0;
  const read = async () => {
    while (length <= maxBytes) {
      const { done, value } = await reader.read();
      if (done || value === undefined) return;
      length += value.byteLength;
      chunks.add(value);
    }
    // Ends a write that waits to be read.
    await reader.cancel().catch(() => undefined);
  };
  const writer = writable.getWriter();
  // Workers take all writes at once and keep what comes of them: without pauses, a small body fills the memory.
  const write = async () => {
    let sliceBytes: number = SLICE_BYTES.least;
    let [packedBytes, pausedAtBytes] = [0, 0];
    for await (const chunk of packed) {
      for (let at = 0; at < chunk.byteLength;) {
        const [slice, unpackedBytes] = [chunk.slice(at, at + sliceBytes), length];
        at += slice.byteLength;
        packedBytes += slice.byteLength;
        await writer.write(slice);
        for (let before = -1; before !== length; await nextTurn()) before = length;
        if (length > maxBytes) return;
        const isDense = length - unpackedBytes > PAUSE_BYTES / 2;
        sliceBytes = isDense ? SLICE_BYTES.least : Math.min(2 * sliceBytes, SLICE_BYTES.most);
        if (packedBytes + length < pausedAtBytes + PAUSE_BYTES) continue;
        pausedAtBytes = packedBytes + length;
        await pause(length);
      }
    }
    await writer.close();
  };
  const writing = write().catch(async (error: unknown) => {
    // Ends a read that still waits.
    await writer.abort(error).catch(() => undefined);
    throw error;
  });
  const [written, unpacked] = await Promise.allSettled([writing, read()]);
  if (length > maxBytes) throw bodyTooLarge(maxBytes, "when unpacked");
  if (written.status === "rejected" && written.reason instanceof ProblemError) throw written.reason;
  if (written.status === "rejected" || unpacked.status === "rejected") {
    throw invalidRequest([{ pointer: "#", message: `is not ${encoding}` }]);
  }
  return chunks.join(() => pause(length));
}

interface ChunkReader {
  read(): Promise<{ readonly done: boolean; readonly value?: Uint8Array<ArrayBuffer> | undefined }>;
  cancel(): Promise<void>;
}

/**
 * Reads by large buffers where the stream takes them, as a Worker's do and Node's do not. The first has 16 KiB, and one
 * that was filled is followed by one of twice its length, up to `mostBytes`.
 */
export function openReader(readable: ReadableStream<Uint8Array<ArrayBuffer>>, mostBytes: number): ChunkReader {
  let reader: ReadableStreamBYOBReader;
  try {
    reader = readable.getReader({ mode: "byob" });
  } catch {
    return readable.getReader();
  }
  let buffer = new ArrayBuffer(Math.min(FIRST_READ_BYTES, mostBytes));
  const read = async () => {
    const { done, value } = await reader.read(new Uint8Array(buffer));
    if (done || value === undefined) return { done: true };
    buffer = value.buffer;
    const bytes = value.slice();
    const isFull = bytes.byteLength === buffer.byteLength;
    if (isFull && buffer.byteLength < mostBytes) buffer = new ArrayBuffer(Math.min(2 * buffer.byteLength, mostBytes));
    return { done: false, value: bytes };
  };
  return { read, cancel: () => reader.cancel() };
}

/** Lets a waiting read end. A read of another stream takes one turn of the event loop; a timer takes a millisecond. */
async function nextTurn(): Promise<void> {
  await new Response(" ").text();
}

/** A body in a coding. */
export async function packBody(
  body: Uint8Array<ArrayBuffer>,
  encoding: BodyEncoding,
): Promise<Uint8Array<ArrayBuffer>> {
  const packed = new Blob([body]).stream().pipeThrough(new CompressionStream(encoding));
  return new Uint8Array(await new Response(packed).arrayBuffer());
}

/** Coding of a reply that the header `Accept-Encoding` asks for; null where it names none of ours. */
export function acceptedEncoding(acceptEncoding: string | null): BodyEncoding | null {
  const accepted = (acceptEncoding ?? "").toLowerCase();
  return (
    ENCODINGS.find((encoding) => new RegExp(`\\b${encoding}\\b(?!\\s*;\\s*q=0(?![.\\d]*[1-9]))`).test(accepted)) ?? null
  );
}
