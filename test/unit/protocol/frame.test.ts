import { fc } from "../property.ts";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { decodeFrame, encodeFrame, splitTensors } from "../../../src/protocol/wire/frame.ts";
import { LIMITS } from "../../../src/protocol/wire/limits.ts";
import { TensorHeader } from "../../../src/protocol/wire/tensor.ts";
import { anyTensor } from "./arbitraries.ts";

const Header = z.object({ tensors: z.array(TensorHeader) });

function decodeWhole(frame: Uint8Array) {
  const decoded = decodeFrame(frame);
  if (!decoded.ok) return decoded;
  const header = Header.safeParse(decoded.header);
  return header.success
    ? splitTensors(header.data.tensors, decoded.payload)
    : { ok: false as const, message: "no header" };
}

describe("a frame", () => {
  it("carries header and tensors unchanged, wherever it stands in memory", () => {
    fc.assert(
      fc.property(
        fc.dictionary(fc.string(), fc.jsonValue()),
        fc.array(anyTensor, { maxLength: 4 }),
        fc.nat(9),
        (header, tensors, shift) => {
          const { tensors: _, ...rest } = { ...header, tensors: null };
          const frame = encodeFrame(rest, tensors);
          const shifted = new Uint8Array(frame.byteLength + shift).subarray(shift);
          shifted.set(frame);
          const decoded = decodeFrame(shifted);
          const heads = tensors.map(({ name, dtype, shape }) => ({ name, dtype, shape }));
          expect(decoded.ok && decoded.header).toEqual(JSON.parse(JSON.stringify({ ...rest, tensors: heads })));
          const split = decodeWhole(shifted);
          expect(split).toEqual({ ok: true, tensors });
        },
      ),
    );
  });

  it("that is cut anywhere is refused and never throws", () => {
    fc.assert(
      fc.property(
        fc.array(anyTensor, { minLength: 1, maxLength: 3 }),
        fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
        (tensors, part) => {
          const frame = encodeFrame({ type: "sample" }, tensors);
          expect(decodeWhole(frame.subarray(0, Math.floor(frame.byteLength * part))).ok).toBe(false);
        },
      ),
    );
  });

  it("of any bytes or with a lying length never throws", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 64 }), fc.option(fc.nat(2 ** 32 - 1)), (bytes, length) => {
        if (length !== null && bytes.byteLength >= 4) new DataView(bytes.buffer).setUint32(0, length, true);
        const decoded = decodeWhole(bytes);
        expect(typeof decoded.ok).toBe("boolean");
      }),
    );
  });

  it("with a longer header than allowed is refused before it is read", () => {
    const frame = encodeFrame({ note: "x".repeat(LIMITS.frameHeaderBytes) }, []);
    expect(decodeFrame(frame)).toMatchObject({ ok: false, message: expect.stringContaining("over") });
  });

  it("whose payload is longer or shorter than its tensors is refused", () => {
    const head = (shape: number[]) => [{ name: "x", dtype: "float32" as const, shape }];
    expect(splitTensors(head([2]), new Uint8Array(8)).ok).toBe(true);
    expect(splitTensors(head([2]), new Uint8Array(9)).ok).toBe(false);
    expect(splitTensors(head([2]), new Uint8Array(7)).ok).toBe(false);
    expect(splitTensors(head([2 ** 20, 2 ** 20]), new Uint8Array(8))).toMatchObject({
      ok: false,
      message: expect.stringContaining("elements"),
    });
  });

  it("whose header is not UTF-8 JSON is refused", () => {
    const frame = encodeFrame({ a: 1 }, []);
    frame[5] = 0xff;
    expect(decodeFrame(frame)).toMatchObject({ ok: false });
  });
});
