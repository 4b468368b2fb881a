import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { BinaryWriter, WireType } from "@bufbuild/protobuf/wire";
import { InferenceSession, Tensor } from "onnxruntime-node";
import { describe, expect, it } from "vitest";
import type { OnnxAttribute, OnnxTensor } from "../../../src/onnx/onnx-model.ts";
import { readModel } from "../../../src/onnx/read-model.ts";
import { readTensor } from "../../../src/onnx/read-tensor.ts";
import { surveyFile, surveySteps } from "../../../src/onnx/survey-file.ts";
import { floatsOf, floatTensor, integersOf, integerTensor } from "../../../src/onnx/tensor-values.ts";
import { writeModel } from "../../../src/onnx/write-model.ts";
import { fc } from "../property.ts";
import { floatValue, modelOf, nodeOf } from "./model-of.ts";

const zoo = join(import.meta.dirname, "../../../models");
const files = readdirSync(zoo, { recursive: true, encoding: "utf8" })
  .filter((name) => name.endsWith(".onnx"))
  .map((name) => [name, new Uint8Array(readFileSync(join(zoo, name)))] as const);

const PIECES = 2 ** 18;
const message = (write: (writer: BinaryWriter) => BinaryWriter) => write(new BinaryWriter()).finish();
const packed = (writer: BinaryWriter, field: number, write: (inner: BinaryWriter) => unknown) => {
  writer.tag(field, WireType.LengthDelimited).fork();
  write(writer);
  return writer.join();
};
const tensorMessage = (type: number, dims: readonly number[], write: (writer: BinaryWriter) => BinaryWriter) =>
  message((writer) => {
    for (const size of dims) writer.tag(1, WireType.Varint).int64(size);
    return write(writer.tag(2, WireType.Varint).int32(type).tag(8, WireType.LengthDelimited).string("w"));
  });

describe("a model that is read and written", () => {
  it.each(files)("gives what ONNX Runtime gives for the file itself: %s", async (_name, file) => {
    const model = readModel(file);
    const again = writeModel(model);
    expect(readModel(again)).toEqual(model);
    expect(writeModel(readModel(again))).toEqual(again);
    const sessions = [await InferenceSession.create(file), await InferenceSession.create(again)];
    const feeds = Object.fromEntries(
      model.inputs.map(({ name, dtype, shape }) => {
        const dims = shape.map((size) => (typeof size === "number" ? size : 1));
        const values = Float32Array.from({ length: dims.reduce((a, b) => a * b, 1) }, (_, at) => Math.sin(at));
        expect(dtype).toBe("float32");
        return [name, new Tensor("float32", values, dims)];
      }),
    );
    const [ours, theirs] = [await sessions[1]!.run(feeds), await sessions[0]!.run(feeds)];
    for (const { name } of model.outputs) expect(ours[name]!.data).toEqual(theirs[name]!.data);
  });

  it("keeps every kind of attribute", () => {
    const inner = message((writer) => writer.tag(1, WireType.LengthDelimited).string("body").tag(20, 0).int32(5));
    const attributes: Record<string, OnnxAttribute> = {
      float: { kind: "float", value: 0.5 },
      int: { kind: "int", value: -3 },
      string: { kind: "string", value: "näher" },
      tensor: { kind: "tensor", value: integerTensor("", [1, -1, 2 ** 40]) },
      floats: { kind: "floats", value: [1, -0.25] },
      ints: { kind: "ints", value: [7, -7] },
      strings: { kind: "strings", value: ["a", ""] },
      body: { kind: "other", message: inner },
    };
    const model = modelOf({ nodes: [nodeOf("Custom", ["x", "", "w"], ["y", ""], attributes)] });
    expect(readModel(writeModel(model))).toEqual(model);
  });

  it("has numbers whether they are packed or not, raw or listed", () => {
    const raw = tensorMessage(1, [2], (writer) =>
      writer.tag(9, WireType.LengthDelimited).bytes(new Uint8Array(Float32Array.of(1.5, -2).buffer)),
    );
    const listed = tensorMessage(1, [2], (writer) =>
      packed(writer, 4, (inner) => {
        inner.float(1.5);
        inner.float(-2);
      }),
    );
    const apart = tensorMessage(1, [2], (writer) => writer.tag(4, 5).float(1.5).tag(4, 5).float(-2));
    for (const bytes of [raw, listed, apart]) expect([...floatsOf(readTensor(bytes))]).toEqual([1.5, -2]);
  });

  it.each<[string, number, number, number[], number[]]>([
    ["int64", 7, 7, [5, -5], [5, -5]],
    ["int32", 6, 5, [5, -5], [5, -5]],
    ["int8", 3, 5, [127, -128], [127, -128]],
    ["uint8", 2, 5, [0, 255], [0, 255]],
    ["int16", 5, 5, [-32_768, 1], [-32_768, 1]],
    ["bool", 9, 5, [1, 0], [1, 0]],
    // One number holds two halves of a byte, the lower first.
    ["int4", 22, 5, [0x8f, 0x07], [-1, -8, 7]],
    ["uint4", 21, 5, [0x8f, 0x07], [15, 8, 7]],
  ])("lists %s", (dtype, type, field, values, found) => {
    const bytes = tensorMessage(type, [found.length], (writer) =>
      packed(writer, field, (inner) => {
        for (const value of values) inner.int64(value);
      }),
    );
    const tensor = readTensor(bytes);
    expect(tensor.dtype).toBe(dtype);
    expect(integersOf(tensor)).toEqual(found);
  });

  it("refuses what a tensor says and does not hold", () => {
    const none = (writer: BinaryWriter) => writer;
    expect(() => readTensor(tensorMessage(1, [2 ** 27], none))).toThrow("does not hold");
    expect(() => readTensor(tensorMessage(1, [2 ** 20, 2 ** 20], none))).toThrow("no shape");
    expect(() => readTensor(tensorMessage(99, [1], none))).toThrow("not known");
    expect(() => readTensor(tensorMessage(1, [1], (writer) => writer.tag(7, 0).int64(1)))).toThrow("another type");
    expect(() => readTensor(tensorMessage(1, [1], (writer) => writer.tag(14, 0).int32(1)))).toThrow("another file");
    const two = tensorMessage(7, [2], (writer) => writer.tag(7, 0).int64(1).tag(7, 0).int64(1));
    expect(() => readTensor(two, { bytes: 15 })).toThrow("too much room");
    expect(integersOf(readTensor(two, { bytes: 16 }))).toEqual([1, 1]);
  });

  it("writes no texts, which it does not keep", () => {
    const texts: OnnxTensor = { name: "t", dtype: "string", dims: [1], bytes: new Uint8Array() };
    expect(() => writeModel(modelOf({ nodes: [], tensors: [texts] }))).toThrow("texts");
  });

  it("has each name of weights once", () => {
    const file = writeModel(modelOf({ nodes: [], tensors: [floatTensor("w", [1], Float32Array.of(1))] }));
    const weights = new Map(readModel(file).weights);
    const twice = { ...modelOf({ nodes: [] }), weights: new Map([...weights, ["other", weights.get("w")!]]) };
    expect(() => readModel(writeModel(twice))).toThrow("twice");
  });

  it("of damaged or random bytes is an Error or a model, and nothing else", () => {
    const file = writeModel(
      modelOf({
        nodes: [nodeOf("Gemm", ["x", "w"], ["s"], { transB: 1 }), nodeOf("Pad", ["s"], ["y"], { pads: [1, 1, 1, 1] })],
        tensors: [floatTensor("w", [4, 4], new Float32Array(16)), integerTensor("i", [1, 2])],
        outputs: [floatValue("y", ["n", ""])],
      }),
    );
    const attempt = (bytes: Uint8Array) => {
      for (const read of [readModel, (each: Uint8Array) => surveyFile(each, PIECES)]) {
        try {
          read(bytes);
        } catch (error) {
          expect(error).toBeInstanceOf(Error);
        }
      }
    };
    for (let length = 0; length < file.length; length++) attempt(file.subarray(0, length));
    const damage = fc.array(fc.tuple(fc.nat(file.length - 1), fc.nat(255)), { minLength: 1, maxLength: 6 });
    fc.assert(
      fc.property(damage, (changes) => {
        const damaged = file.slice();
        for (const [at, byte] of changes) damaged[at] = byte;
        attempt(damaged);
      }),
      { numRuns: 500 },
    );
    fc.assert(fc.property(fc.uint8Array({ maxLength: 300 }), attempt));
  });
});

describe("a survey", () => {
  it("counts what takes memory, and stops where that is too much", () => {
    // Sixteen empty names of a node take a byte and a half each in the file, and an entry each once they are read.
    const names = message((writer) => {
      for (let i = 0; i < 1_600; i++) writer.tag(1, WireType.LengthDelimited).string("");
      return writer;
    });
    const file = message((writer) => packed(writer, 7, (graph) => packed(graph, 1, (node) => node.raw(names))));
    expect(surveyFile(file, PIECES).pieces).toBe(3 + 1_600 / 8);
    expect(() => surveyFile(file, 202)).toThrow("more than 202 parts");
    expect(surveyFile(file, 203).hasExternalData).toBe(false);
  });

  it("rests as often where it comes to nothing but beginnings and ends of messages", () => {
    const nodes = new Uint8Array(2 * (PIECES - 2)).map((_, at) => (at % 2 === 0 ? 0x0a : 0));
    const file = message((writer) => packed(writer.tag(1, WireType.Varint).int32(8), 7, (graph) => graph.raw(nodes)));
    // The version, and the beginnings and ends of the nodes, the graph and the model.
    expect([...surveySteps(file, PIECES)]).toHaveLength(Math.floor((2 * PIECES) / 16_384));
  });

  it("refuses a message that is longer than the one that holds it", () => {
    const file = (length: number) =>
      message((writer) =>
        packed(writer, 7, (graph) => graph.tag(1, WireType.LengthDelimited).uint32(length).raw(Uint8Array.of(26, 0)))
          .tag(4, WireType.LengthDelimited)
          .string("domain"),
      );
    expect(surveyFile(file(2), PIECES).pieces).toBe(3);
    for (const length of [1, 4, 10, 100]) expect(() => surveyFile(file(length), PIECES)).toThrow(RangeError);
  });

  it("follows messages into each other as deep as real networks have them", () => {
    const nest = (depth: number) => {
      let graph = new Uint8Array();
      for (let i = 0; i < depth; i++) {
        const inner = graph;
        graph = message((writer) =>
          packed(writer, 1, (node) =>
            packed(node, 5, (attribute) => attribute.tag(6, WireType.LengthDelimited).bytes(inner)),
          ),
        );
      }
      return message((writer) => writer.tag(7, WireType.LengthDelimited).bytes(graph));
    };
    expect(surveyFile(nest(21), PIECES).pieces).toBe(2 + 3 * 21);
    expect(() => surveyFile(nest(22), PIECES)).toThrow("too deeply");
  });
});
