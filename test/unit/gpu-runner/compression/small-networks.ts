import type { OnnxAttribute, OnnxModel, OnnxNode, OnnxTensor } from "../../../../src/onnx/onnx-model.ts";
import { floatTensor } from "../../../../src/onnx/tensor-values.ts";
import { sfc32 } from "../../../../src/stats/random/seeded.ts";

const ints = (...value: number[]): OnnxAttribute => ({ kind: "ints", value });
const int = (value: number): OnnxAttribute => ({ kind: "int", value });

/** Numbers between −1 and 1 from a seed. */
export function drawValues(count: number, seed: number): Float32Array<ArrayBuffer> {
  const draw = sfc32(seed);
  return Float32Array.from({ length: count }, () => draw(2 ** 24) / 2 ** 23 - 1);
}

/** Writes networks node by node; weights are drawn from a seed. */
function begin(name: string, shape: readonly (number | string)[]) {
  const nodes: OnnxNode[] = [];
  const weights = new Map<string, OnnxTensor>();
  const put = (tensor: OnnxTensor): string => {
    weights.set(tensor.name, tensor);
    return tensor.name;
  };
  const drawn = (dims: readonly number[], size = 1, shift = 0): string => {
    const count = dims.reduce((product, each) => product * each, 1);
    const values = drawValues(count, weights.size + 1).map((value) => value * size + shift);
    return put(floatTensor(`w${weights.size}`, dims, values));
  };
  const node = (operator: string, inputs: string[], attributes: Record<string, OnnxAttribute> = {}, outputs = 1) => {
    const names = Array.from({ length: outputs }, (_, index) => `v${nodes.length}_${index}`);
    nodes.push({
      name: "",
      operator,
      domain: "",
      inputs,
      outputs: names,
      attributes: new Map(Object.entries(attributes)),
    });
    return names[0]!;
  };
  const norm = (x: string, channels: number) =>
    node("BatchNormalization", [
      x,
      drawn([channels], 0.5, 1),
      drawn([channels], 0.3),
      drawn([channels], 0.3),
      drawn([channels], 0.4, 0.6),
    ]);
  const end = (output: string, outputShape: readonly (number | string)[]): OnnxModel => ({
    irVersion: 8,
    opset: 17,
    domains: new Map(),
    name,
    nodes,
    weights,
    inputs: [{ name: "x", dtype: "float32", shape }],
    outputs: [{ name: output, dtype: "float32", shape: outputShape }],
  });
  return { put, drawn, node, norm, end };
}

/** Convolutions with batch norms, one by channel, a sum past one, a clamp to 6 and a mean of all places. */
export function separableNetwork(): OnnxModel {
  const { put, drawn, node, norm, end } = begin("separable", ["rows", 3, 9, 9]);
  const [zero, six] = [
    put(floatTensor("zero", [], Float32Array.of(0))),
    put(floatTensor("six", [], Float32Array.of(6))),
  ];
  const same = { pads: ints(1, 1, 1, 1) };
  const stem = node("Relu", [norm(node("Conv", ["x", drawn([8, 3, 3, 3])], same), 8)]);
  const wide = norm(node("Conv", [stem, drawn([8, 1, 3, 3]), drawn([8])], { ...same, group: int(8) }), 8);
  const clamped = node("Clip", [wide, zero, six]);
  const mixed = node("Conv", [clamped, drawn([8, 8, 1, 1], 0.5), drawn([8])]);
  const sum = node("Add", [mixed, stem]);
  const both = node("Concat", [node("Relu", [sum]), clamped], { axis: int(1) });
  const flat = node("Flatten", [node("GlobalAveragePool", [both])]);
  const answer = node("Gemm", [flat, drawn([5, 16]), drawn([5])], { transB: int(1) });
  return end(answer, ["rows", 5]);
}

/** Along one axis: a convolution, a pool, and matrices whose biases are added behind them. */
export function signalNetwork(): OnnxModel {
  const { drawn, node, norm, end } = begin("signal", ["rows", 3, 40]);
  const conv = norm(node("Conv", ["x", drawn([7, 3, 5]), drawn([7])], { strides: ints(2), pads: ints(2, 2) }), 7);
  const pooled = node("MaxPool", [node("Relu", [conv])], { kernel_shape: ints(2), strides: ints(2) });
  const turned = node("Transpose", [pooled], { perm: ints(0, 2, 1) });
  const hidden = node("Relu", [node("Add", [node("MatMul", [turned, drawn([7, 33])]), drawn([33])])]);
  const flat = node("Flatten", [node("MatMul", [hidden, drawn([33, 3], 0.3)])]);
  return end(node("Tanh", [node("Gemm", [flat, drawn([30, 4], 0.03), drawn([1, 4])])]), ["rows", 4]);
}

/** A GRU over six steps, its last state into a matrix. */
export function recurrentNetwork(): OnnxModel {
  const { put, drawn, node, end } = begin("recurrent", [6, "rows", 5]);
  node("GRU", ["x", drawn([1, 24, 5]), drawn([1, 24, 8], 0.5), drawn([1, 48], 0.2)], { hidden_size: int(8) }, 2);
  const shape = put({
    name: "shape",
    dtype: "int64",
    dims: [2],
    bytes: new Uint8Array(BigInt64Array.of(-1n, 8n).buffer),
  });
  const last = node("Reshape", ["v0_1", shape]);
  return end(node("Gemm", [last, drawn([8, 3])]), ["rows", 3]);
}

/** Filters one way and back again, and the mean of all places into a matrix. */
export function thereAndBackNetwork(): OnnxModel {
  const { drawn, node, end } = begin("back", ["rows", 2, 6, 6]);
  const wide = node("Relu", [node("Conv", ["x", drawn([35, 2, 3, 3]), drawn([35])])]);
  const back = node("Relu", [node("ConvTranspose", [wide, drawn([35, 2, 2, 2]), drawn([2])])]);
  const narrow = node("Relu", [node("Conv", [back, drawn([6, 2, 3, 3]), drawn([6])])]);
  const mean = node("ReduceMean", [narrow], { axes: ints(-2, -1), keepdims: int(0) });
  return end(node("Gemm", [mean, drawn([6, 3])]), ["rows", 3]);
}

/** One matrix, as an MLP's layer: 5 outputs of 7 inputs, an odd count; the third output has no weights but zeros. */
export function oddNetwork(): OnnxModel {
  const { put, node, drawn, end } = begin("odd", ["rows", 7]);
  const values = drawValues(35, 9);
  values.fill(0, 14, 21);
  const matrix = put(floatTensor("matrix", [5, 7], values));
  return end(node("Gemm", ["x", matrix, drawn([5])], { transB: int(1) }), ["rows", 5]);
}
