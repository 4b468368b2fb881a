import { InferenceSession, Tensor } from "onnxruntime-node";
import { describe, expect, it } from "vitest";
import { inferShapes } from "../../../src/onnx/infer-shapes.ts";
import type { OnnxModel, OnnxNode, OnnxTensor } from "../../../src/onnx/onnx-model.ts";
import { floatTensor, integerTensor } from "../../../src/onnx/tensor-values.ts";
import { writeModel } from "../../../src/onnx/write-model.ts";
import { floatValue, modelOf, nodeOf } from "./model-of.ts";

const floats = (name: string, ...dims: number[]) =>
  floatTensor(name, dims, new Float32Array(dims.reduce((product, size) => product * size, 1)).fill(0.5));
const ints = integerTensor;
const scalar = (name: string, value: number): OnnxTensor => ({ ...integerTensor(name, [value]), dims: [] });
const text = (value: string) => ({ kind: "string", value }) as const;

interface Case {
  readonly shape: readonly number[];
  readonly nodes: readonly OnnxNode[];
  readonly tensors?: readonly OnnxTensor[];
  readonly opset?: number;
  /** Values that ONNX Runtime gives beside y. */
  readonly further?: readonly string[];
}

const one = (shape: readonly number[], node: OnnxNode, ...tensors: OnnxTensor[]): Case => ({
  shape,
  nodes: [node],
  tensors,
});
const y = ["y"];
const image = [2, 4, 9, 7];

const cases: Record<string, Case> = {
  "Conv with stride, dilation and pads": one(
    image,
    nodeOf("Conv", ["x", "w"], y, { strides: [2, 1], dilations: [1, 2], pads: [1, 0, 2, 1] }),
    floats("w", 6, 4, 3, 2),
  ),
  "Conv by groups, same": one(
    image,
    nodeOf("Conv", ["x", "w"], y, { strides: [2, 2], group: 4, auto_pad: text("SAME_UPPER") }),
    floats("w", 8, 1, 3, 3),
  ),
  ConvTranspose: one(
    image,
    nodeOf("ConvTranspose", ["x", "w"], y, { strides: [2, 3], pads: [1, 1, 0, 0], output_padding: [1, 0] }),
    floats("w", 4, 5, 3, 3),
  ),
  "ConvTranspose, same": one(
    image,
    nodeOf("ConvTranspose", ["x", "w"], y, { strides: [2, 2], auto_pad: text("SAME_LOWER") }),
    floats("w", 4, 5, 3, 3),
  ),
  "MaxPool, ceiling": one(image, nodeOf("MaxPool", ["x"], y, { kernel_shape: [2, 2], strides: [2, 2], ceil_mode: 1 })),
  AveragePool: one(image, nodeOf("AveragePool", ["x"], y, { kernel_shape: [3, 3], pads: [1, 1, 1, 1] })),
  GlobalAveragePool: one(image, nodeOf("GlobalAveragePool", ["x"], y)),
  "Gemm, transposed": one([5, 3], nodeOf("Gemm", ["x", "w"], y, { transA: 1, transB: 1 }), floats("w", 4, 5)),
  "MatMul over axes of one": one([2, 1, 3, 4], nodeOf("MatMul", ["x", "w"], y), floats("w", 5, 4, 6)),
  "Add of sizes that repeat": one([2, 1, 3], nodeOf("Add", ["x", "w"], y), floats("w", 4, 1)),
  "Reshape with what is kept and what remains": one([2, 3, 4], nodeOf("Reshape", ["x", "s"], y), ints("s", [0, -1])),
  Flatten: one(image, nodeOf("Flatten", ["x"], y, { axis: -2 })),
  Transpose: one(image, nodeOf("Transpose", ["x"], y, { perm: [0, 2, 3, 1] })),
  Concat: one([2, 3], nodeOf("Concat", ["x", "w", "x"], y, { axis: -1 }), floats("w", 2, 5)),
  "Squeeze of all": one([1, 3, 1], nodeOf("Squeeze", ["x"], y)),
  Unsqueeze: one([2, 3], nodeOf("Unsqueeze", ["x", "a"], y), ints("a", [0, -1])),
  "Unsqueeze before opset 13": { ...one([2, 3], nodeOf("Unsqueeze", ["x"], y, { axes: [0, 3] })), opset: 11 },
  "Slice from behind": one(
    [6, 7],
    nodeOf("Slice", ["x", "s", "e", "a", "t"], y),
    ints("s", [-1, 1]),
    ints("e", [-100, 100]),
    ints("a", [1, 0]),
    ints("t", [-2, 2]),
  ),
  "Slice before opset 10": { ...one([6, 7], nodeOf("Slice", ["x"], y, { starts: [1], ends: [-1] })), opset: 9 },
  Gather: one([5, 3], nodeOf("Gather", ["x", "i"], y, { axis: 1 }), ints("i", [0, 2, 1, 0])),
  "Split in equal parts": {
    ...one([7, 2], nodeOf("Split", ["x"], ["y", "z"], { num_outputs: 2 })),
    opset: 18,
    further: ["z"],
  },
  "ReduceMean, kept": { ...one([2, 3, 4], nodeOf("ReduceMean", ["x"], y, { axes: [-1] })), opset: 13 },
  "ReduceSum by an input": one([2, 3, 4], nodeOf("ReduceSum", ["x", "a"], y, { keepdims: 0 }), ints("a", [0, 2])),
  TopK: { ...one([2, 9], nodeOf("TopK", ["x", "k"], ["y", "i"]), ints("k", [3])) },
  ArgMax: one([2, 9], nodeOf("ArgMax", ["x"], y, { axis: 1, keepdims: 0 })),
  "GRU both ways": {
    shape: [5, 2, 3],
    nodes: [nodeOf("GRU", ["x", "w", "r"], ["y", "h"], { hidden_size: 4, direction: text("bidirectional") })],
    tensors: [floats("w", 2, 12, 3), floats("r", 2, 12, 4)],
    further: ["h"],
  },
  LSTM: {
    shape: [5, 2, 3],
    nodes: [nodeOf("LSTM", ["x", "w", "r"], ["y", "h", "c"], { hidden_size: 4 })],
    tensors: [floats("w", 1, 16, 3), floats("r", 1, 16, 4)],
    further: ["h", "c"],
  },
  Expand: one([3, 1], nodeOf("Expand", ["x", "s"], y), ints("s", [2, 1, 6])),
  Tile: one([2, 3], nodeOf("Tile", ["x", "s"], y), ints("s", [2, 3])),
  Pad: one([2, 3], nodeOf("Pad", ["x", "s"], y), ints("s", [0, 1, 2, 3])),
  "Resize by scales": one(
    image,
    nodeOf("Resize", ["x", "", "s"], y),
    floatTensor("s", [4], Float32Array.of(1, 1, 2, 1.5)),
  ),
  "Resize to sizes": one(image, nodeOf("Resize", ["x", "", "", "s"], y), ints("s", [2, 4, 3, 20])),
  "Range and Expand": {
    shape: [1],
    nodes: [
      nodeOf("Range", ["from", "to", "by"], ["r"]),
      nodeOf("Cast", ["r"], ["f"], { to: 1 }),
      nodeOf("Add", ["x", "f"], y),
    ],
    tensors: [scalar("from", 2), scalar("to", 11), scalar("by", 2)],
  },
  "sizes that are computed": {
    shape: [2, 6],
    nodes: [
      nodeOf("Shape", ["x"], ["s"]),
      nodeOf("Gather", ["s", "second"], ["width"]),
      nodeOf("Div", ["width", "two"], ["half"]),
      nodeOf("Concat", ["minus", "half"], ["target"], { axis: 0 }),
      nodeOf("Reshape", ["x", "target"], ["r"]),
      nodeOf("ConstantOfShape", ["target2"], ["zeros"]),
      nodeOf("Add", ["r", "zeros"], y),
    ],
    tensors: [ints("second", [1]), ints("two", [2]), ints("minus", [-1]), ints("target2", [3, 1, 1])],
  },
  "sizes that are chosen": {
    shape: [2, 3],
    nodes: [
      nodeOf("ConstantOfShape", ["two"], ["ones"], { value: { kind: "tensor", value: ints("v", [4]) } }),
      nodeOf("Shape", ["x"], ["s"]),
      nodeOf("Equal", ["s", "wanted"], ["same"]),
      nodeOf("Where", ["same", "ones", "s"], ["size"]),
      nodeOf("Concat", ["size", "s"], ["target"], { axis: 0 }),
      nodeOf("ConstantOfShape", ["target"], y),
    ],
    tensors: [ints("two", [2]), ints("wanted", [2, 5])],
  },
  "ReduceMax over no axes that are named": {
    ...one([2, 3, 4], nodeOf("ReduceMax", ["x", "a"], y), ints("a", [])),
    opset: 18,
  },
  "ReduceMin that keeps its input": {
    ...one([2, 3, 4], nodeOf("ReduceMin", ["x", "a"], y, { noop_with_empty_axes: 1 }), ints("a", [])),
    opset: 18,
  },
  GatherElements: one([3, 5], nodeOf("GatherElements", ["x", "i"], y, { axis: 1 }), {
    ...ints("i", [0, 4, 1, 2, 0, 0]),
    dims: [3, 2],
  }),
  "MatMul with a list": one([4, 2, 5], nodeOf("MatMul", ["x", "w"], y), floats("w", 5)),
  "MatMul of a list": one([5], nodeOf("MatMul", ["x", "w"], y), floats("w", 3, 5, 2)),
  Einsum: one([2, 3, 4], nodeOf("Einsum", ["x", "w"], y, { equation: text("bij, bjk -> kbi") }), floats("w", 2, 4, 5)),
  "Einsum without an arrow": one(
    [3, 4],
    nodeOf("Einsum", ["x", "w"], y, { equation: text("zj,ja") }),
    floats("w", 4, 5),
  ),
  DepthToSpace: one([1, 8, 2, 3], nodeOf("DepthToSpace", ["x"], y, { blocksize: 2 })),
};

function asModel({ shape, nodes, tensors = [], opset = 17, further = [] }: Case): OnnxModel {
  const model = modelOf({ nodes, tensors, opset, inputs: [floatValue("x", shape)], outputs: [] });
  const shapes = inferShapes(model, 1);
  const outputs = ["y", ...further].map((name) => ({
    ...floatValue(
      name,
      (shapes.get(name) ?? []).map(() => ""),
    ),
    dtype: nodes.some(({ operator }) => operator === "ArgMax") ? ("int64" as const) : ("float32" as const),
  }));
  return { ...model, outputs };
}

describe("shapes that are known without computing", () => {
  it.each(Object.entries(cases))("are those of ONNX Runtime: %s", async (_name, each) => {
    const model = asModel(each);
    const shapes = inferShapes(model, 1);
    const session = await InferenceSession.create(writeModel(model), { logSeverityLevel: 4 });
    const elements = each.shape.reduce((product, size) => product * size, 1);
    const found = await session.run({ x: new Tensor("float32", new Float32Array(elements).fill(1), each.shape) });
    for (const name of ["y", ...(each.further ?? [])]) expect(shapes.get(name), name).toEqual(found[name]!.dims);
  });

  it("take the rows that are asked for", () => {
    const model = modelOf({ nodes: [nodeOf("Relu", ["x"], ["y"])] });
    expect(inferShapes(model, 3).get("y")).toEqual([3, 4]);
  });

  it("are left out where data decide, and no name of an operator leads astray", () => {
    const nodes = ["NonMaxSuppression", "constructor", "toString"].map((operator, at) =>
      nodeOf(operator, ["x"], [`y${at}`]),
    );
    expect([...inferShapes(modelOf({ nodes }), 1).keys()]).toEqual(["x"]);
  });
});
