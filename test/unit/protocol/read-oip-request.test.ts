import { describe, expect, it } from "vitest";
import { OIP_DATATYPES } from "../../../src/protocol/inference/oip.ts";
import { readOipRequest } from "../../../src/protocol/inference/read-oip-request.ts";
import { describeOipReply, writeOipReply } from "../../../src/protocol/inference/write-oip-reply.ts";
import { parseJson } from "../../../src/protocol/wire/parse-json.ts";
import { ProblemError } from "../../../src/protocol/wire/problem.ts";
import type { Tensor } from "../../../src/protocol/wire/tensor.ts";
import { fc } from "../property.ts";
import { anyTensor } from "./arbitraries.ts";

const read = (body: Uint8Array<ArrayBuffer>, headerLength: string | null) =>
  readOipRequest(body, headerLength, [], (json) => parseJson(new TextDecoder().decode(json)));

/** A request with raw tensors as Triton's clients write it. */
function encodeRequest(tensors: readonly Tensor[]): { body: Uint8Array<ArrayBuffer>; headerLength: string } {
  const inputs = tensors.map(({ name, dtype, shape, bytes }) => ({
    name,
    shape,
    datatype: OIP_DATATYPES[dtype],
    parameters: { binary_data_size: bytes.byteLength },
  }));
  const json = new TextEncoder().encode(JSON.stringify({ inputs, parameters: { binary_data_output: true } }));
  const parts = [json, ...tensors.map(({ bytes }) => bytes)];
  return { body: new Uint8Array(parts.flatMap((part) => [...part])), headerLength: String(json.byteLength) };
}

const tensors = fc.array(anyTensor, { minLength: 1, maxLength: 4 });

/** True where it was read, false where it was refused as a mistake of the caller; throws for all else. */
function isRead(body: Uint8Array<ArrayBuffer>, headerLength: string | null): boolean {
  try {
    read(body, headerLength);
    return true;
  } catch (error) {
    if (error instanceof ProblemError && error.problem.code === "invalid-request") return false;
    throw error;
  }
}

describe("raw tensors", () => {
  it("are read as they were written, of every type", () => {
    fc.assert(
      fc.property(tensors, (sent) => {
        const { body, headerLength } = encodeRequest(sent);
        expect(read(body, headerLength)).toMatchObject({ tensors: sent, isBinary: true, outputs: null });
      }),
    );
  });

  it("come back in the reply behind its JSON", async () => {
    await fc.assert(
      fc.asyncProperty(tensors, async (sent) => {
        const { body, headerLength } = encodeRequest(sent);
        const request = read(body, headerLength);
        const reply = await writeOipReply(
          describeOipReply(request, { model_name: "m", model_version: "1" }, sent),
          null,
        );
        const bytes = reply.body;
        const length = Number(reply.headers["inference-header-content-length"]);
        const { outputs } = JSON.parse(new TextDecoder().decode(bytes.subarray(0, length))) as {
          outputs: { name: string; datatype: string; parameters: { binary_data_size: number } }[];
        };
        expect(outputs.map(({ name }) => name)).toEqual(sent.map(({ name }) => name));
        const sizes = outputs.map(({ parameters }) => parameters.binary_data_size);
        expect(length + sizes.reduce((sum, size) => sum + size, 0)).toBe(bytes.byteLength);
        expect([...bytes.subarray(length)]).toEqual(sent.flatMap((tensor) => [...tensor.bytes]));
      }),
    );
  });

  it("cut short anywhere are refused", () => {
    fc.assert(
      fc.property(tensors, fc.double({ min: 0, max: 0.999, noNaN: true }), (sent, share) => {
        const { body, headerLength } = encodeRequest(sent);
        expect(isRead(body.slice(0, Math.floor(share * body.byteLength)), headerLength)).toBe(false);
      }),
    );
  });

  it("with bytes behind them, or a header that lies about its length, are refused", () => {
    fc.assert(
      fc.property(tensors, fc.integer({ min: -40, max: 40 }).filter(Boolean), (sent, off) => {
        const { body, headerLength } = encodeRequest(sent);
        const lie = Number(headerLength) + off;
        expect(isRead(body, String(lie))).toBe(false);
        expect(isRead(new Uint8Array([...body, 0]), headerLength)).toBe(false);
      }),
    );
  });

  it("that are damaged anywhere are read or refused, and nothing else happens", () => {
    const damage = fc.array(fc.tuple(fc.nat(), fc.integer({ min: 0, max: 255 })), { minLength: 1, maxLength: 6 });
    fc.assert(
      fc.property(tensors, damage, (sent, changes) => {
        const { body, headerLength } = encodeRequest(sent);
        for (const [at, byte] of changes) body[at % body.byteLength] = byte;
        expect(typeof isRead(body, headerLength)).toBe("boolean");
        expect(typeof isRead(body, null)).toBe("boolean");
      }),
    );
  });
});

describe("strings whose lengths lie", () => {
  it.each([
    ["more than there is", [9, 0, 0, 0, 97, 98]],
    ["four gigabytes", [255, 255, 255, 255, 97, 98]],
    ["less than a length", [1, 0]],
  ])("by saying %s are refused", (_, raw) => {
    const tensor: Tensor = { name: "s", dtype: "string", shape: [1], bytes: Uint8Array.from(raw) };
    const { body, headerLength } = encodeRequest([tensor]);
    expect(isRead(body, headerLength)).toBe(false);
  });
});
