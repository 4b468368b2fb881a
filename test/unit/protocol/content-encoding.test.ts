import { deflateSync, gzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import {
  acceptedEncoding,
  encodingOf,
  openReader,
  packBody,
  unpackBody,
} from "../../../src/protocol/wire/content-encoding.ts";
import { ProblemError } from "../../../src/protocol/wire/problem.ts";

const MIB = 2 ** 20;
const text = new TextEncoder().encode("a body that is said twice, a body that is said twice");

async function refusalOf(work: () => unknown): Promise<ProblemError> {
  try {
    await work();
  } catch (error) {
    if (error instanceof ProblemError) return error;
    throw error;
  }
  throw new Error("it was not refused");
}

describe("a content encoding", () => {
  it.each([
    [null, null],
    ["", null],
    ["identity", null],
    ["gzip", "gzip"],
    [" GZIP ", "gzip"],
    ["x-gzip", "gzip"],
    ["deflate", "deflate"],
  ])("%j is %j", (header, encoding) => {
    expect(encodingOf(header)).toBe(encoding);
  });

  it.each(["br", "zstd", "gzip, gzip", "gzip;q=1"])("%s is refused with those that are known", async (header) => {
    const { problem, headers } = await refusalOf(() => encodingOf(header));
    expect(problem).toMatchObject({ status: 415, errors: [{ pointer: "header/content-encoding" }] });
    expect(headers).toEqual({ "accept-encoding": "gzip, deflate, identity" });
  });

  it("is refused where a body is kept as it is", async () => {
    expect((await refusalOf(() => encodingOf("gzip", []))).headers).toEqual({ "accept-encoding": "identity" });
  });

  it.each([
    ["gzip, deflate", "gzip"],
    ["deflate", "deflate"],
    ["gzip;q=0, deflate", "deflate"],
    ["br", null],
    [null, null],
  ])("of a reply to %j is %j", (header, encoding) => {
    expect(acceptedEncoding(header)).toBe(encoding);
  });
});

describe("a packed body", () => {
  it.each([
    ["gzip", gzipSync(text)],
    ["deflate", deflateSync(text)],
    ["gzip", gzipSync(new Uint8Array())],
  ] as const)("of %s is unpacked, in whatever pieces it comes", async (encoding, packed) => {
    const pieces = Array.from(packed, (byte) => Uint8Array.of(byte));
    const whole = await unpackBody([packed], encoding, MIB);
    expect(await unpackBody(pieces, encoding, MIB)).toEqual(whole);
    expect([text.byteLength, 0]).toContain(whole.byteLength);
  });

  it("comes back as it was, at the limit too", async () => {
    const body = crypto.getRandomValues(new Uint8Array(60_000));
    const packed = await packBody(body, "gzip");
    expect(await unpackBody([packed], "gzip", body.byteLength)).toEqual(body);
    const { problem } = await refusalOf(() => unpackBody([packed], "gzip", body.byteLength - 1));
    expect(problem).toMatchObject({ status: 413, errors: [{ pointer: "#" }] });
  });

  it.each([
    ["what is not packed", text],
    ["nothing", new Uint8Array()],
    ["one that ends early", gzipSync(text).subarray(0, -4)],
    ["one with more behind it", Buffer.concat([gzipSync(text), text])],
  ])("refuses %s", async (_, packed) => {
    const { problem } = await refusalOf(() => unpackBody([packed], "gzip", MIB));
    expect(problem).toMatchObject({ status: 400, errors: [{ pointer: "#", message: "is not gzip" }] });
  });

  it("is refused as soon as it is too long, without reading on", async () => {
    const bomb = gzipSync(Buffer.alloc(128 * MIB));
    let taken = 0;
    function* pieces() {
      for (; taken < bomb.byteLength; taken += 4_096) yield bomb.subarray(taken, taken + 4_096);
    }
    expect((await refusalOf(() => unpackBody(pieces(), "gzip", 4_096))).problem.status).toBe(413);
    expect(taken).toBeLessThan(bomb.byteLength / 2);
  });

  it("passes on the error of its source", async () => {
    const lost = new ProblemError("invalid-request", "The caller is gone.");
    async function* pieces() {
      yield gzipSync(text).subarray(0, 12);
      await Promise.resolve();
      throw lost;
    }
    expect(await refusalOf(() => unpackBody(pieces(), "gzip", MIB))).toBe(lost);
  });

  it("lets others work while it holds blocks that unpack to nothing", async () => {
    let pauses = 0;
    await unpackBody([emptyBlocks(MIB)], "gzip", MIB, async () => void pauses++).catch(() => undefined);
    expect(pauses).toBe(3);
  });
});

describe("the room of a read", () => {
  /** Rooms for which a stream is asked that fills each by this share. */
  async function roomsOf(mostBytes: number, share: number): Promise<number[]> {
    const rooms: number[] = [];
    const stream = new ReadableStream({
      type: "bytes",
      pull(controller) {
        const room = controller.byobRequest!.view!.byteLength;
        rooms.push(room);
        controller.byobRequest!.respond(Math.ceil(share * room));
      },
    });
    const reader = openReader(stream, mostBytes);
    for (let read = 0; read < 6; read++) await reader.read();
    return rooms;
  }

  it("is small at first, and grows after reads that fill it", async () => {
    const KIB = 2 ** 10;
    expect(await roomsOf(64 * KIB, 1)).toEqual([16, 32, 64, 64, 64, 64].map((room) => room * KIB));
    expect(await roomsOf(64 * KIB, 0.5)).toEqual([16, 16, 16, 16, 16, 16].map((room) => room * KIB));
    expect((await roomsOf(100, 1))[0]).toBe(100);
  });
});

/** A gzip body of stored blocks without content (RFC 1951, section 3.2.4), which never ends. */
function emptyBlocks(length: number): Uint8Array<ArrayBuffer> {
  const block = [0, 0, 0, 255, 255];
  const head = [31, 139, 8, 0, 0, 0, 0, 0, 0, 255];
  return Uint8Array.from({ length }, (_, at) => head[at] ?? block[(at - head.length) % block.length]!);
}
