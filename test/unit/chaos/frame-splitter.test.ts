import { describe, expect, it } from "vitest";
import { FrameSplitter, type Unit } from "../../chaos/faults/frame-splitter.ts";
import { fc } from "../property.ts";

const HEAD = "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\n\r\n";

/** A frame as a server sends it; with a mask of zeros as a client may. */
function frame(opcode: number, payload: Buffer, { isFinal = true, isMasked = false } = {}): Buffer {
  const length = payload.length < 126 ? [payload.length] : [126, payload.length >> 8, payload.length & 0xff];
  const mask = isMasked ? 0x80 : 0;
  const head = [
    (isFinal ? 0x80 : 0) | opcode,
    mask | length[0]!,
    ...length.slice(1),
    ...(isMasked ? [0, 0, 0, 0] : []),
  ];
  return Buffer.concat([Buffer.from(head), payload]);
}

function split(bytes: Buffer, cuts: readonly number[] = []): Unit[] {
  const splitter = new FrameSplitter();
  const ends = [...cuts.filter((cut) => cut < bytes.length).toSorted((a, b) => a - b), bytes.length];
  return ends.flatMap((end, index) => splitter.take(bytes.subarray(ends[index - 1] ?? 0, end)));
}

describe("the frames of a connection", () => {
  const frames = [
    frame(1, Buffer.from("hello")),
    frame(2, Buffer.alloc(300, 7)),
    frame(9, Buffer.alloc(0)),
    frame(1, Buffer.from("par"), { isFinal: false }),
    frame(0, Buffer.from("ts")),
    frame(1, Buffer.from("masked"), { isMasked: true }),
  ];

  it("are units, of which whole messages may be moved and a server's texts be read", () => {
    const units = split(Buffer.concat([Buffer.from(HEAD), ...frames]));
    expect(units.map(({ isMessage }) => isMessage)).toEqual([false, true, true, false, false, false, true]);
    expect(units.map(({ text }) => text)).toEqual([null, "hello", null, null, null, null, null]);
    expect(units.slice(1).map(({ bytes }) => bytes)).toEqual(frames);
  });

  it("are the same wherever the bytes behind the head are cut", () => {
    const bytes = Buffer.concat([Buffer.from(HEAD), ...frames]);
    const cut = fc.integer({ min: HEAD.length, max: bytes.length });
    fc.assert(
      fc.property(fc.array(cut, { maxLength: 8 }), (cuts) => {
        expect(split(bytes, cuts)).toEqual(split(bytes));
      }),
    );
  });

  it("begin behind earlier answers on the same connection", () => {
    const splitter = new FrameSplitter();
    const answer = Buffer.from("HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok");
    expect(splitter.take(answer)).toEqual([{ bytes: answer, isMessage: false, text: null }]);
    splitter.take(Buffer.from(HEAD));
    expect(splitter.take(frame(1, Buffer.from("later")))[0]?.text).toBe("later");
  });
});
