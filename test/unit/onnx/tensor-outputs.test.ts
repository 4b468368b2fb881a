import { BinaryWriter, WireType } from "@bufbuild/protobuf/wire";
import { InferenceSession, Tensor as OrtTensor } from "onnxruntime-node";
import { describe, expect, it } from "vitest";
import { OrtBackend } from "../../../src/gpu-runner/devices/ort/ort-backend.ts";
import type { OnnxAttribute, OnnxNode } from "../../../src/onnx/onnx-model.ts";
import { readModel } from "../../../src/onnx/read-model.ts";
import { tensorOutputs, withTensorOutputs } from "../../../src/onnx/tensor-outputs.ts";
import { writeMessage, writeNode, writeOpset, writeValue } from "../../../src/onnx/write-model.ts";
import { type Tensor, typedView } from "../../../src/protocol/wire/tensor.ts";
import { floatValue, nodeOf } from "./model-of.ts";

/** Writes a TypeProto. */
type WriteType = (type: BinaryWriter) => void;

const FLOAT: WriteType = (type) => writeMessage(type, 1, (tensor) => tensor.tag(1, WireType.Varint).int32(1));
const sequenceOf =
  (element: WriteType): WriteType =>
  (type) =>
    writeMessage(type, 4, (sequence) => writeMessage(sequence, 1, element));
/** A map from texts to floats. */
const MAP: WriteType = (type) =>
  writeMessage(type, 5, (map) => {
    map.tag(1, WireType.Varint).int32(8);
    writeMessage(map, 2, FLOAT);
  });

interface File {
  readonly nodes: readonly OnnxNode[];
  readonly outputs: Readonly<Record<string, WriteType>>;
  /** Version of ONNX's own operators; 0: none is named, as in files of converters that use none. */
  readonly opset?: number;
}

/** A file of the input x [n, 2] whose outputs have any types. */
function fileOf({ nodes, outputs, opset = 17 }: File): Uint8Array {
  const writer = new BinaryWriter();
  writer.tag(1, WireType.Varint).int64(8);
  writeMessage(writer, 7, (graph) => {
    for (const node of nodes) writeMessage(graph, 1, (body) => writeNode(body, node));
    writeMessage(graph, 11, (body) => writeValue(body, floatValue("x", ["n", 2])));
    for (const [name, type] of Object.entries(outputs)) {
      writeMessage(graph, 12, (body) => {
        body.tag(1, WireType.LengthDelimited).string(name);
        writeMessage(body, 2, type);
      });
    }
  });
  if (opset > 0) writeOpset(writer, "", opset);
  writeOpset(writer, "ai.onnx.ml", 3);
  return writer.finish();
}

const ml = (operator: string, inputs: string[], outputs: string[], attributes: Record<string, OnnxAttribute>) => ({
  ...nodeOf(operator, inputs, outputs, attributes),
  domain: "ai.onnx.ml",
});
const floats = (...value: number[]) => ({ kind: "floats", value }) as const;
const texts = (...value: string[]) => ({ kind: "strings", value }) as const;
/** A classifier as scikit-learn's converter writes it: its labels, and a map of its scores. */
const classifier = fileOf({
  nodes: [
    ml("LinearClassifier", ["x"], ["label", "scores"], {
      coefficients: floats(1, 0, 0, 1),
      intercepts: floats(0, 0.5),
      classlabels_strings: texts("cat", "dog"),
      post_transform: { kind: "string", value: "NONE" },
    }),
    ml("ZipMap", ["scores"], ["probabilities"], { classlabels_strings: texts("cat", "dog") }),
  ],
  outputs: { probabilities: sequenceOf(MAP) },
  opset: 0,
});
const pieces = fileOf({
  nodes: [nodeOf("SplitToSequence", ["x"], ["parts"], { axis: 1 })],
  outputs: { parts: sequenceOf(FLOAT) },
});
const x: Tensor = { name: "x", dtype: "float32", shape: [1, 2], bytes: new Uint8Array(Float32Array.of(3, 4).buffer) };

describe("outputs that are no tensors", () => {
  it("are refused by the runtime for Node, which is why they are changed", async () => {
    const session = await InferenceSession.create(classifier, { logSeverityLevel: 4 });
    const feeds = { x: new OrtTensor("float32", Float32Array.of(3, 4), [1, 2]) };
    await expect(session.run(feeds)).rejects.toThrow("Non tensor type");
  });

  it("a map of a classifier becomes its scores, with the classes beside them", async () => {
    expect(tensorOutputs(readModel(classifier))).toEqual([
      { name: "probabilities", dtype: "float32", shape: ["", 2], labels: ["cat", "dog"] },
    ]);
    const ort = new OrtBackend("cpu");
    await ort.load("classifier", classifier);
    const [scores] = (await ort.run("classifier", [x])).tensors;
    expect(scores).toMatchObject({ name: "probabilities", shape: [1, 2] });
    expect([...typedView(scores!)]).toEqual([3, 4.5]);
  });

  it("a sequence of equal tensors becomes them stacked", async () => {
    expect(tensorOutputs(readModel(pieces))).toEqual([{ name: "parts_stacked", dtype: "float32", shape: [] }]);
    const ort = new OrtBackend("cpu");
    await ort.load("pieces", pieces);
    const [stacked] = (await ort.run("pieces", [x])).tensors;
    expect(stacked).toMatchObject({ name: "parts_stacked", shape: [2, 1, 1] });
    expect([...typedView(stacked!)]).toEqual([3, 4]);
  });

  it("a map that nothing labels cannot become one", () => {
    const file = fileOf({ nodes: [nodeOf("Identity", ["x"], ["y"])], outputs: { y: MAP } });
    expect(tensorOutputs(readModel(file))).toEqual([null]);
  });

  it("tensors stay as they are, to the byte", () => {
    const file = fileOf({ nodes: [nodeOf("Relu", ["x"], ["y"])], outputs: { y: FLOAT } });
    expect(withTensorOutputs(file)).toBe(file);
    expect(readModel(withTensorOutputs(pieces)).nodes.map(({ operator }) => operator)).toEqual([
      "SplitToSequence",
      "ConcatFromSequence",
    ]);
  });
});
