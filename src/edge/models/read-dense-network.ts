import { LIMITS } from "../../protocol/wire/limits.ts";
import type { TensorSpec } from "../../protocol/models/model.ts";
import {
  countElements,
  floatOf,
  intOf,
  type OnnxModel,
  type OnnxNode,
  type OnnxTensor,
} from "../../onnx/onnx-model.ts";
import { readModel } from "../../onnx/read-model.ts";
import { floatsOf, integersOf } from "../../onnx/tensor-values.ts";
import type { DenseNetwork, DenseStep } from "./dense-network.ts";
import type { Signature } from "./read-signature.ts";

/** Further work in weight products: of a row, of each step, and of each element that is not a sum of products. */
const PRODUCTS_PER_ROW = 2_048;
const PRODUCTS_PER_STEP = 256;
const PRODUCTS_PER_ELEMENT = 64;

export type DenseResult =
  | { readonly ok: true; readonly network: DenseNetwork }
  | { readonly ok: false; readonly message: string };

/** First opset in which Gemm and Add broadcast as they do now, and Reshape has its shape as an input. */
const FIRST_OPSET = 7;
/** First opset in which Softmax uses the last axis by default; before, it used the second. */
const SOFTMAX_OPSET = 13;

/**
 * Reads an ONNX file as a dense network: one input and one output of float32, joined by a chain of Gemm, MatMul, Relu,
 * LeakyRelu, Tanh, Sigmoid, Softmax, Flatten, Reshape, Identity and Constant. Rows may be added, subtracted or
 * multiplied before the first of these or after any. Reports the deviation if the file is none.
 */
export function readDenseNetwork(file: Uint8Array, signature: Signature): DenseResult {
  return orSay(() => toDense(readModel(file, LIMITS.edgeNodes), signature));
}

/** The same for a parsed file. */
export function readDenseModel(model: OnnxModel, signature: Signature): DenseResult {
  return orSay(() => toDense(model, signature));
}

function orSay(read: () => DenseNetwork): DenseResult {
  try {
    return { ok: true, network: read() };
  } catch (error) {
    return { ok: false, message: error instanceof NotDense ? error.message : "the file cannot be read" };
  }
}

function toDense(model: OnnxModel, { inputs, outputs }: Signature): DenseNetwork {
  const [input, output] = [inputs[0], outputs[0]];
  if (inputs.length !== 1 || input?.dtype !== "float32") throw new NotDense("takes other than one float32 input");
  if (outputs.length !== 1 || output?.dtype !== "float32") throw new NotDense("gives other than one float32 output");
  if (model.nodes.length > LIMITS.edgeNodes) throw new NotDense(`has more than ${LIMITS.edgeNodes} nodes`);
  return readChain(model, input, output.name);
}

class NotDense extends Error {}
const MISPLACED = "adds or multiplies elsewhere than behind a layer or before the first";

/** Layers read so far: the value that the next node must use, with its shape, rows first. */
interface Chain {
  value: string;
  /** Transform of each element before the first layer: element · scale + shift. Null where there is none. */
  before: { readonly scale: Float32Array; readonly shift: Float32Array } | null;
  shape: readonly number[];
  parameters: number;
  readonly steps: DenseStep[];
  readonly constants: Map<string, OnnxTensor>;
  readonly opset: number;
}

function readChain({ opset, nodes, weights }: OnnxModel, input: TensorSpec, output: string): DenseNetwork {
  if (opset < FIRST_OPSET) throw new NotDense(`uses operators older than opset ${FIRST_OPSET}`);
  const constants = new Map(weights);
  const begin = { value: input.name, before: null, shape: input.shape, parameters: 0, steps: [] };
  const chain: Chain = { ...begin, constants, opset };
  const inputs = widthOf(input.shape);
  if (input.shape[0]! > LIMITS.edgeRows) throw new NotDense(`takes more than ${LIMITS.edgeRows} rows at once`);
  for (const node of nodes) {
    if (node.domain !== "") throw new NotDense(`has an operator of ${node.domain}`);
    if (node.operator === "Constant") addConstant(chain, node);
    else follow(chain, node);
  }
  if (chain.value !== output) throw new NotDense("does not end in its output");
  if (!chain.steps.some(({ kind }) => kind === "dense")) throw new NotDense("has no dense layer");
  const { steps, parameters, shape } = chain;
  const rowProducts = countRowProducts(inputs, chain);
  // Two computations are timed together.
  if (2 * rowProducts * LIMITS.edgeRows > LIMITS.edgeRunProducts) throw new NotDense("takes too long for a row");
  return { input: input.name, inputs, output, outputShape: shape.slice(1), steps, parameters, rowProducts };
}

function countRowProducts(inputs: number, { steps, parameters }: Chain): number {
  let products = PRODUCTS_PER_ROW + parameters;
  let width = inputs;
  for (const step of steps) {
    products += PRODUCTS_PER_STEP;
    if (step.kind === "dense") width = step.outputs;
    else products += PRODUCTS_PER_ELEMENT * width;
  }
  return products;
}

function addConstant({ constants }: Chain, { outputs, attributes }: OnnxNode): void {
  const value = attributes.get("value");
  if (value?.kind !== "tensor") throw new NotDense("has a constant that is no tensor");
  constants.set(outputs[0] ?? "", value.value);
}

/** Follows one node, which must use the previous node's output and no other computed value. */
function follow(chain: Chain, node: OnnxNode): void {
  const from = node.inputs.indexOf(chain.value);
  if (from < 0 || node.outputs.length !== 1) throw new NotDense("is not a chain of operators");
  if (from > 0 && node.operator !== "Add" && node.operator !== "Mul")
    throw new NotDense(`has a ${node.operator} that computes with other inputs`);
  apply(chain, node, node.inputs[from === 0 ? 1 : 0]);
  if (chain.before !== null && chain.steps.length > 0) throw new NotDense(MISPLACED);
  chain.value = node.outputs[0] ?? "";
}

function apply(chain: Chain, node: OnnxNode, other: string | undefined): void {
  switch (node.operator) {
    case "Gemm":
      return addGemm(chain, node);
    case "MatMul":
      return addLayer(chain, matrixOf(chain, other), false, 1);
    case "Add":
      return addRow(chain, constantOf(chain, other), 1);
    case "Sub":
      return addRow(chain, constantOf(chain, other), -1);
    case "Mul":
      return multiplyByRow(chain, constantOf(chain, other));
    case "Relu":
      return void chain.steps.push({ kind: "relu" });
    case "Tanh":
      return void chain.steps.push({ kind: "tanh" });
    case "Sigmoid":
      return void chain.steps.push({ kind: "sigmoid" });
    case "LeakyRelu":
      return void chain.steps.push({ kind: "leakyRelu", slope: floatOf(node, "alpha", 0.01) });
    case "Softmax":
      return addSoftmax(chain, node);
    case "Flatten":
      if (intOf(node, "axis", 1) !== 1) throw new NotDense("flattens rows together");
      chain.shape = [chain.shape[0] ?? -1, widthOf(chain.shape)];
      return;
    case "Reshape":
      chain.shape = reshape(chain, node, constantOf(chain, other));
      return;
    case "Identity":
      return;
    default:
      throw new NotDense(`has the operator ${node.operator.slice(0, 64)}`);
  }
}

function addGemm(chain: Chain, node: OnnxNode): void {
  if (intOf(node, "transA", 0) !== 0) throw new NotDense("transposes its rows");
  const isTransposed = intOf(node, "transB", 0) !== 0;
  addLayer(chain, matrixOf(chain, node.inputs[1]), isTransposed, floatOf(node, "alpha", 1));
  const bias = node.inputs[2] ?? "";
  if (bias !== "") addRow(chain, constantOf(chain, bias), floatOf(node, "beta", 1));
}

function addLayer(chain: Chain, matrix: OnnxTensor, isTransposed: boolean, factor: number): void {
  const [first = 0, second = 0] = matrix.dims;
  const [inputs, outputs] = isTransposed ? [second, first] : [first, second];
  if (chain.shape.length !== 2 || chain.shape[1] !== inputs) throw new NotDense("has layers that do not fit");
  count(chain, matrix);
  const values = floatsOf(matrix);
  const weights = isTransposed ? transpose(values, outputs, inputs) : values;
  if (factor !== 1) for (let i = 0; i < weights.length; i++) weights[i] = weights[i]! * factor;
  chain.shape = [chain.shape[0] ?? -1, outputs];
  widthOf(chain.shape);
  chain.steps.push({ kind: "dense", inputs, outputs, weights, bias: foldIn(chain.before, weights, outputs) });
  chain.before = null;
}

/** Folds a scale and shift of the inputs into a layer: changes its weights, and gives the bias to add. */
function foldIn(before: Chain["before"], weights: Float32Array, outputs: number): Float32Array {
  const bias = new Float32Array(outputs);
  if (before === null) return bias;
  for (let i = 0; i < weights.length; i++) {
    const input = Math.floor(i / outputs);
    bias[i % outputs]! += before.shift[input]! * weights[i]!;
    weights[i] = weights[i]! * before.scale[input]!;
  }
  return bias;
}

/** Adds to the output of the last layer, or to the input of the first one. */
function addRow(chain: Chain, tensor: OnnxTensor, factor: number): void {
  const { shift } = adjustable(chain);
  const row = rowOf(chain, tensor, shift.length);
  for (let i = 0; i < shift.length; i++) shift[i]! += factor * row[i]!;
}

function multiplyByRow(chain: Chain, tensor: OnnxTensor): void {
  const { scale, shift } = adjustable(chain);
  const row = rowOf(chain, tensor, shift.length);
  for (let i = 0; i < shift.length; i++) shift[i]! *= row[i]!;
  for (let i = 0; i < scale.length; i++) scale[i]! *= row[i % row.length]!;
}

/** Numbers to scale and shift there: a layer's weights [inputs, outputs] and its bias. */
function adjustable(chain: Chain): NonNullable<Chain["before"]> {
  const layer = chain.steps.at(-1);
  if (chain.shape.length === 2 && layer?.kind === "dense") return { scale: layer.weights, shift: layer.bias };
  if (chain.shape.length !== 2 || layer !== undefined) throw new NotDense(MISPLACED);
  const width = widthOf(chain.shape);
  chain.before ??= { scale: new Float32Array(width).fill(1), shift: new Float32Array(width) };
  return chain.before;
}

/** A row from [width], [1, width], or one number for all. */
function rowOf(chain: Chain, tensor: OnnxTensor, width: number): Float32Array {
  const last = tensor.dims.at(-1) ?? 1;
  const isRow = tensor.dims.length <= 2 && tensor.dims.slice(0, -1).every((size) => size === 1);
  if (!isRow || (last !== width && last !== 1)) throw new NotDense("adds or multiplies by more than a row");
  count(chain, tensor);
  const values = floatsOf(tensor);
  return last === width ? values : new Float32Array(width).fill(values[0]!);
}

function addSoftmax(chain: Chain, node: OnnxNode): void {
  const axis = intOf(node, "axis", chain.opset < SOFTMAX_OPSET ? 1 : -1);
  if (chain.shape.length !== 2 || (axis !== 1 && axis !== -1)) throw new NotDense("has a softmax over other than rows");
  chain.steps.push({ kind: "softmax" });
}

/** The shape after a Reshape that keeps rows apart: 0 keeps a size, -1 is the remainder. */
function reshape({ shape }: Chain, node: OnnxNode, target: OnnxTensor): number[] {
  const [rows = -1, ...sizes] = integersOf(target).map((size, axis) => (size === 0 ? (shape[axis] ?? 0) : size));
  if (intOf(node, "allowzero", 0) !== 0) throw new NotDense("reshapes with allowzero");
  const width = widthOf(shape);
  const known = sizes.filter((size) => size !== -1).reduce((product, size) => product * size, 1);
  const open = sizes.filter((size) => size === -1).length;
  const isRows = rows === shape[0] || (rows === -1 && open === 0);
  if (!isRows || open > 1 || sizes.some((size) => size < -1)) throw new NotDense("reshapes rows together");
  const filled = sizes.map((size) => (size === -1 ? width / known : size));
  // This also detects a free first size that means something other than rows.
  if (sizes.length === 0 || widthOf([-1, ...filled]) !== width) throw new NotDense("reshapes rows together");
  return [shape[0] ?? -1, ...filled];
}

function constantOf({ constants }: Chain, name: string | undefined): OnnxTensor {
  const tensor = constants.get(name ?? "");
  if (tensor === undefined) throw new NotDense("computes with more than its input and weights");
  return tensor;
}

function matrixOf(chain: Chain, name: string | undefined): OnnxTensor {
  const tensor = constantOf(chain, name);
  if (tensor.dims.length !== 2) throw new NotDense("has weights that are no matrix");
  return tensor;
}

/** Adds a tensor's size to the network's parameters, before its numbers are copied. */
function count(chain: Chain, tensor: OnnxTensor): void {
  if (tensor.dtype !== "float32") throw new NotDense("has weights that are not float32");
  chain.parameters += countElements(tensor.dims);
  if (chain.parameters > LIMITS.edgeParameters) throw new NotDense(`has more than ${LIMITS.edgeParameters} parameters`);
}

/** Elements of a row; the first axis counts the rows. */
function widthOf(shape: readonly number[]): number {
  const width = shape.slice(1).reduce((product, size) => product * size, 1);
  const isFixed = shape.length > 1 && shape.slice(1).every((size) => Number.isInteger(size) && size > 0);
  if (!isFixed || width > LIMITS.edgeWidth) throw new NotDense("has rows of a width that is free, none or too large");
  return width;
}

/** [rows, columns] to [columns, rows]. */
function transpose(values: Float32Array, rows: number, columns: number): Float32Array {
  const turned = new Float32Array(values.length);
  for (let row = 0; row < rows; row++) {
    for (let column = 0; column < columns; column++) turned[column * rows + row] = values[row * columns + column]!;
  }
  return turned;
}
