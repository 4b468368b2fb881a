import { describe, expect, it } from "vitest";
import { readHeldOut } from "../../../src/protocol/models/held-out-file.ts";
import { LIMITS } from "../../../src/protocol/wire/limits.ts";
import { fc } from "../property.ts";
import { writeSafetensors, type WrittenTensor } from "./write-safetensors.ts";

const tensor = (dtype: string, shape: number[], array: ArrayBufferView): WrittenTensor => ({
  dtype,
  shape,
  bytes: new Uint8Array(array.buffer, array.byteOffset, array.byteLength),
});
const sound = {
  "input.image": tensor("U8", [2, 3], Uint8Array.of(0, 1, 2, 253, 254, 255)),
  target: tensor("U8", [2], Uint8Array.of(1, 0)),
  baseline: tensor("F32", [1, 2], Float32Array.of(0.25, -1)),
};
const metadata = { metric: "accuracy", "input.image.scale": "0.1", "input.image.offset": "-3" };

describe("a held-out part", () => {
  it("is read with the numbers that stand for it", () => {
    const { metric, rows, inputs, target, baseline } = readHeldOut(writeSafetensors(sound, metadata));
    expect({ metric, rows }).toEqual({ metric: "accuracy", rows: 2 });
    expect([...inputs.keys()]).toEqual(["image"]);
    const image = [0, 1, 2, 253, 254, 255].map((whole) => Math.fround(whole * 0.1 - 3));
    expect(inputs.get("image")).toEqual({ shape: [2, 3], values: Float32Array.from(image) });
    expect(target).toEqual({ shape: [2], values: Float32Array.of(1, 0) });
    expect(baseline).toEqual({ shape: [1, 2], values: Float32Array.of(0.25, -1) });
  });

  it.each<[string, ArrayBufferView, number[]]>([
    ["F32", Float32Array.of(1.5, -2), [1.5, -2]],
    ["F16", Float16Array.of(1.5, -2), [1.5, -2]],
    ["I32", Int32Array.of(-70_000, 70_000), [-70_000, 70_000]],
    ["I16", Int16Array.of(-30_000, 30_000), [-30_000, 30_000]],
    ["I8", Int8Array.of(-128, 127), [-128, 127]],
    ["U8", Uint8Array.of(0, 255), [0, 255]],
  ])("may have %s, wherever it lies", (dtype, array, values) => {
    const odd = { "input.x": tensor("U8", [2], Uint8Array.of(1, 2)), target: tensor(dtype, [2], array) };
    const file = writeSafetensors({ ...odd, baseline: tensor("U8", [1], Uint8Array.of(1)) }, { metric: "mae" });
    const moved = new Uint8Array(file.length + 1);
    moved.set(file, 1);
    for (const bytes of [file, moved.subarray(1)]) expect([...readHeldOut(bytes).target.values]).toEqual(values);
  });

  it.each<[string, Record<string, WrittenTensor>, Record<string, string>, object, string]>([
    ["without a metric", sound, {}, {}, "do not name the metric"],
    ["without an input", { target: sound.target, baseline: sound.baseline }, metadata, {}, "no tensor input.<name>"],
    ["without a target", { "input.image": sound["input.image"], baseline: sound.baseline }, metadata, {}, '"target"'],
    ["without a baseline", { "input.image": sound["input.image"], target: sound.target }, metadata, {}, '"baseline"'],
    ["with more", { ...sound, note: sound.target }, metadata, {}, '"note" is neither'],
    [
      "of another type",
      { ...sound, target: { ...sound.target, dtype: "BF16" } },
      metadata,
      {},
      '"target" is of "BF16"',
    ],
    ["of a name of JavaScript", { ...sound, target: { ...sound.target, dtype: "toString" } }, metadata, {}, '"target"'],
    [
      "of another size",
      { ...sound, target: { ...sound.target, shape: [3] } },
      metadata,
      {},
      '"target" has 2 bytes for 3',
    ],
    [
      "with other rows",
      { ...sound, baseline: tensor("U8", [3], new Uint8Array(3)) },
      metadata,
      {},
      '"baseline" has 3 rows',
    ],
    [
      "with one input",
      { ...sound, "input.image": tensor("U8", [1, 3], new Uint8Array(3)) },
      metadata,
      {},
      '"input.image"',
    ],
    ["without samples", { ...sound, target: tensor("U8", [0], new Uint8Array()) }, metadata, {}, '"target" has 0 rows'],
    [
      "without dimensions",
      { ...sound, target: tensor("U8", [], new Uint8Array(1)) },
      metadata,
      {},
      '"target" has no dim',
    ],
    [
      "with a scale of words",
      sound,
      { ...metadata, "target.scale": "one" },
      {},
      'scale of the tensor "target" is "one"',
    ],
    ["with an empty offset", sound, { ...metadata, "target.offset": " " }, {}, 'offset of the tensor "target"'],
    [
      "beyond all numbers",
      sound,
      { ...metadata, "target.scale": "1e39" },
      {},
      '"target" has numbers that are not finite',
    ],
    ["with a gap", sound, metadata, { target: { dtype: "U8", shape: [2], data_offsets: [7, 9] } }, "end to end"],
  ])("%s is refused with a word of what is wrong", (_, tensors, words, changes, message) => {
    expect(() => readHeldOut(writeSafetensors(tensors, words, changes))).toThrow(RangeError);
    expect(() => readHeldOut(writeSafetensors(tensors, words, changes))).toThrow(message);
  });

  it("has a limit of bytes, of its header's and of samples", () => {
    const rows = LIMITS.heldOutRows + 1;
    const bytes = new Uint8Array(rows);
    const many = {
      "input.x": tensor("U8", [rows], bytes),
      target: tensor("U8", [rows], bytes),
      baseline: sound.baseline,
    };
    expect(() => readHeldOut(writeSafetensors(many, metadata))).toThrow(`1 to ${LIMITS.heldOutRows}`);
    expect(() => readHeldOut(new Uint8Array(LIMITS.heldOutBytes + 1))).toThrow(`may have ${LIMITS.heldOutBytes}`);
    const long = { ...metadata, words: "x".repeat(LIMITS.heldOutHeaderBytes) };
    expect(() => readHeldOut(writeSafetensors(sound, long))).toThrow("header is too long");
  });

  it("says so and nothing else where bytes were changed or are missing", () => {
    const file = writeSafetensors(sound, metadata);
    fc.assert(
      fc.property(fc.nat(file.length - 1), fc.nat(255), fc.nat(file.length), (at, value, length) => {
        const changed = file.slice(0, length);
        if (at < length) changed[at] = value;
        try {
          readHeldOut(changed);
        } catch (error) {
          expect(error).toBeInstanceOf(RangeError);
        }
      }),
    );
  });
});
