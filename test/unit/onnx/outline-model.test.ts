import { describe, expect, it } from "vitest";
import { inferShapes } from "../../../src/onnx/infer-shapes.ts";
import { outlineModel, type RandomFile } from "../../../src/onnx/outline-model.ts";
import { readModel, readOutline } from "../../../src/onnx/read-model.ts";
import { summariseModel } from "../../../src/onnx/summarise-model.ts";
import { floatsOf, floatTensor, integerTensor } from "../../../src/onnx/tensor-values.ts";
import { writeModel } from "../../../src/onnx/write-model.ts";
import { writeExternalModel } from "../../edge/stack/external-model.ts";
import { floatValue, modelOf, nodeOf } from "./model-of.ts";

const LIMITS = { reads: 16, bytes: 2 ** 20, pieces: 2 ** 12, tensorBytes: 1_024 };

/** A file in memory that counts what is read of it. */
function open(bytes: Uint8Array) {
  const counts = { reads: 0, bytes: 0 };
  const file: RandomFile = {
    sizeBytes: bytes.byteLength,
    read: async (offset, length) => {
      counts.reads++;
      counts.bytes += length;
      return bytes.subarray(offset, offset + length);
    },
  };
  return { file, counts };
}

/** Two products, with 4 MB of weights each, between them a reshape by a small tensor. */
const wide = modelOf({
  nodes: [
    nodeOf("MatMul", ["x", "w1"], ["a"]),
    nodeOf("Reshape", ["a", "to"], ["b"]),
    nodeOf("Constant", [], ["c"], {
      value: { kind: "tensor", value: floatTensor("", [1_000], new Float32Array(1_000)) },
    }),
    nodeOf("Add", ["b", "c"], ["d"]),
    nodeOf("MatMul", ["d", "w2"], ["y"]),
  ],
  tensors: [
    floatTensor("w1", [1_000, 1_000], new Float32Array(1_000_000).fill(0.5)),
    integerTensor("to", [-1, 1_000]),
    floatTensor("w2", [1_000, 1_000], new Float32Array(1_000_000)),
  ],
  inputs: [floatValue("x", ["n", 1_000])],
  outputs: [floatValue("y", ["n", 1_000])],
});

describe("the outline of a file", () => {
  it("says the same as the file, without its weights and without reading them", async () => {
    const bytes = writeModel(wide);
    const { file, counts } = open(bytes);
    const outline = await outlineModel({ model: file, data: new Map() }, LIMITS);
    expect(outline.bytes.byteLength).toBeLessThan(2_048);
    expect(counts.bytes).toBeLessThan(300_000);
    const [read, whole] = [readOutline(outline.bytes), readModel(bytes)];
    expect(summariseModel(read)).toEqual(summariseModel(whole));
    expect(inferShapes(read, 3)).toEqual(inferShapes(whole, 3));
    expect(read.inputs).toEqual(whole.inputs);
    expect(read.weights.get("to")).toEqual(whole.weights.get("to"));
    expect(() => floatsOf(read.weights.get("w1")!)).toThrow("w1");
    expect(() => readModel(outline.bytes)).toThrow("another file");
  });

  it("is the file itself where all of it is small", async () => {
    const bytes = writeModel(modelOf({ nodes: [nodeOf("Relu", ["x"], ["y"])] }));
    expect((await outlineModel({ model: open(bytes).file, data: new Map() }, LIMITS)).bytes).toEqual(bytes);
  });

  it.each([
    ["reads", { reads: 1 }, "more than 1 reads"],
    ["bytes beside the weights", { bytes: 64 }, "more than 64 bytes beside its weights"],
    ["parts", { pieces: 4 }, "more than 4 parts"],
  ])("is bounded in %s", async (_, limits, message) => {
    const outlining = outlineModel({ model: open(writeModel(wide)).file, data: new Map() }, { ...LIMITS, ...limits });
    await expect(outlining).rejects.toThrow(message);
  });

  it("is not made of a file that ends early, is no model, or cannot be read", async () => {
    const bytes = writeModel(wide);
    const outline = (file: RandomFile) => outlineModel({ model: file, data: new Map() }, LIMITS);
    await expect(outline(open(bytes.subarray(0, 5_000_000)).file)).rejects.toThrow("not an ONNX model");
    await expect(outline(open(new TextEncoder().encode("no model at all")).file)).rejects.toThrow("not an ONNX model");
    const broken = { sizeBytes: 100, read: () => Promise.reject(new Error("the disk is gone")) };
    await expect(outline(broken)).rejects.toThrow("the disk is gone");
  });
});

describe("weights in other files", () => {
  const outline = (tensors: Parameters<typeof writeExternalModel>[0], data: Record<string, Uint8Array>) =>
    outlineModel(
      {
        model: open(writeExternalModel(tensors)).file,
        data: new Map(Object.entries(data).map(([name, bytes]) => [name, open(bytes).file])),
      },
      LIMITS,
    );
  const w = { name: "w", dims: [1_000, 10], external: { location: "w.bin", offset: "4096", length: "40000" } };
  const bytes = new Uint8Array(44_096).fill(7);

  it("are left out where they are large, and read where they are small", async () => {
    const small = { name: "s", dtype: "int64", dims: [2], external: { location: "s.bin", offset: "8" } } as const;
    const numbers = new Uint8Array(new BigInt64Array([1n, -1n, 10n]).buffer);
    const { bytes: found, dataFiles } = await outline([w, small], { "w.bin": bytes, "s.bin": numbers });
    expect([...dataFiles]).toEqual(["w.bin", "s.bin"]);
    const { weights } = readOutline(found);
    expect(weights.get("w")).toMatchObject({ dims: [1_000, 10], isLeftOut: true });
    expect(weights.get("s")!.bytes).toEqual(numbers.subarray(8));
    expect(weights.get("s")!.isLeftOut).toBeUndefined();
  });

  it.each([
    ["are in no file that is given", { location: "v.bin" }, 'lie in "v.bin", which is none of the files given'],
    ["name a folder", { location: "../w.bin" }, 'lie in "../w.bin", which is none'],
    ["name no file", { offset: "0" }, 'lie in "", which is none'],
    ["end behind the file's end", { ...w.external, offset: "4097" }, "end at byte 44097 of w.bin, which has 44096"],
    ["begin before the file", { ...w.external, offset: "-4" }, "end at byte NaN"],
    ["are other than their shape", { ...w.external, length: "39996" }, "do not have the bytes that their shape needs"],
  ])("are refused where they %s", async (_, external, message) => {
    await expect(outline([{ ...w, external }], { "w.bin": bytes })).rejects.toThrow(message);
  });
});
