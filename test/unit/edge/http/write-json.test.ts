import { describe, expect, it } from "vitest";
import { answerTensors, measureJson, streamJson } from "../../../../src/edge/http/write-json.ts";
import { type DType, packStrings, type Tensor, tensorToJson } from "../../../../src/protocol/wire/tensor.ts";

const LONG = 100_000;

function tensor(name: string, dtype: DType, bytes: Uint8Array, elements: number): Tensor {
  return { name, dtype, shape: [elements], bytes };
}

const floats = Float32Array.from({ length: LONG }, (_, at) => (at % 7 === 0 ? Number.NaN : at / 3));
const integers = BigInt64Array.from({ length: LONG }, (_, at) => BigInt(at) - 5n);
const flags = Uint8Array.from({ length: LONG }, (_, at) => at % 2);
const words = Array.from({ length: LONG }, (_, at) => ["", "ä", "\u{1f600}", 'quo"te', "x".repeat(at % 9)][at % 5]!);

const TENSORS: readonly Tensor[] = [
  tensor("floats", "float32", new Uint8Array(floats.buffer), LONG),
  tensor("integers", "int64", new Uint8Array(integers.buffer), LONG),
  tensor("flags", "bool", flags, LONG),
  tensor("words", "string", packStrings(words), LONG),
  tensor("nothing", "float32", new Uint8Array(), 0),
];

describe("an answer with tensors as JSON", () => {
  it.each([["long", TENSORS] as const, ["short", TENSORS.slice(4)] as const])(
    "is the same where it is %s",
    async (_, all) => {
      const reply = answerTensors(all, (outputs) => ({ model: "m", outputs, left: undefined }), {
        "server-timing": "a",
      });
      const outputs = Object.fromEntries(all.map((each) => [each.name, tensorToJson(each)]));
      expect(await reply.text()).toBe(JSON.stringify({ model: "m", outputs }));
      expect([reply.headers.get("content-type"), reply.headers.get("server-timing")]).toEqual([
        "application/json",
        "a",
      ]);
    },
  );

  it("is written while it is read", async () => {
    const reader = answerTensors(TENSORS, (outputs) => ({ outputs })).body!.getReader();
    let [most, parts] = [0, 0];
    for (;;) {
      const { done, value } = await reader.read();
      if (done) break;
      most = Math.max(most, value.byteLength);
      parts++;
    }
    expect(most).toBeLessThan(200_000);
    expect(parts).toBeGreaterThan(20);
  });
});

it("JSON has its length measured, and other bytes behind it", async () => {
  const value = { outputs: [{ name: "ä", data: words }] };
  const behind = [Uint8Array.of(1, 2), Uint8Array.of(3)];
  const bytes = new Uint8Array(await new Response(streamJson(value, behind)).arrayBuffer());
  const text = new TextEncoder().encode(JSON.stringify(value));
  expect(await measureJson(value)).toBe(text.byteLength);
  expect([...bytes.subarray(text.byteLength)]).toEqual([1, 2, 3]);
  expect(bytes.subarray(0, text.byteLength)).toEqual(text);
});
