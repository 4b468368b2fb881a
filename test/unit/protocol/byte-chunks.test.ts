import { describe, expect, it } from "vitest";
import { ByteChunks } from "../../../src/protocol/wire/byte-chunks.ts";
import { fc } from "../property.ts";

const MIB = 2 ** 20;
const rest = async () => undefined;

describe("bytes in chunks", () => {
  it("are joined in their order, whatever the lengths of the chunks", async () => {
    const length = fc.oneof(fc.nat(4), fc.nat(20_000), fc.integer({ min: 16_380, max: 16_388 }));
    await fc.assert(
      fc.asyncProperty(fc.array(length, { maxLength: 12 }), async (lengths) => {
        const total = lengths.reduce((a, b) => a + b, 0);
        const bytes = Uint8Array.from({ length: total }, (_, at) => at % 251);
        const chunks = new ByteChunks();
        for (let [index, at] = [0, 0]; index < lengths.length; at += lengths[index++]!) {
          chunks.add(bytes.slice(at, at + lengths[index]!));
        }
        expect(chunks.length).toBe(total);
        expect(await chunks.join(rest)).toEqual(bytes);
      }),
      { numRuns: 50 },
    );
  });

  it("are copied out of short ones, which need not be kept", async () => {
    const chunks = new ByteChunks();
    const chunk = new Uint8Array(1);
    for (let value = 0; value < 100_000; value++) {
      chunk[0] = value;
      chunks.add(chunk);
    }
    const bytes = await chunks.join(rest);
    expect([bytes.length, bytes.every((byte, at) => byte === at % 256)]).toEqual([100_000, true]);
  });

  it("are joined with pauses", async () => {
    const chunks = new ByteChunks();
    for (let at = 0; at < 64; at++) chunks.add(new Uint8Array(MIB / 16));
    let pauses = 0;
    await chunks.join(async () => void pauses++);
    expect(pauses).toBe(4);
  });
});
