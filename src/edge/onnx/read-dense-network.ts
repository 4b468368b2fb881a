import { LIMITS } from "../../protocol/limits.ts";
import type { TensorSpec } from "../../protocol/model.ts";
import { type Graph, type GraphNode, isOnnx, readGraph } from "./read-graph.ts";
import { type FileTensor, floatsOf, integersOf, sizeOf } from "./read-tensor.ts";

/** y = x · weights + bias; weights are [inputs, outputs] row by row. */
export interface DenseLayer {
  readonly kind: "dense";
  readonly inputs: number;
  readonly outputs: number;
  readonly weights: Float32Array;
  readonly bias: Float32Array;
}
export type DenseStep =
  | DenseLayer
  | { readonly kind: "relu" | "tanh" | "sigmoid" | "softmax" }
  | { readonly kind: "leakyRelu"; readonly slope: number };

/** A network that takes each row of its input through the same steps, one after the other. */
export interface DenseNetwork {
  readonly input: string;
  /** Elements of a row. */
  readonly inputs: number;
  readonly output: string;
  /** Shape of what a row becomes. */
  readonly outputShape: readonly number[];
  readonly steps: readonly DenseStep[];
  /** Numbers in weights and biases. */
  readonly parameters: number;
  /** What a row takes, as the number of products of weights that take about as long. */
  readonly rowProducts: number;
}

/** What else takes time, in products of weights: a row, each step of it, and each element that is no sum of products. */
const PRODUCTS_PER_ROW = 2_048;
const PRODUCTS_PER_STEP = 256;
const PRODUCTS_PER_ELEMENT = 64;

export type DenseResult =
  | { readonly ok: true; readonly network: DenseNetwork }
  | { readonly ok: false; readonly message: string };

/** Since then Gemm and Add broadcast as they do now, and Reshape has its shape as an input. */
const FIRST_OPSET = 7;
/** Since then Softmax goes along the last axis unless it says otherwise; before, along the second. */
const SOFTMAX_OPSET = 13;

/**
 * Reads an ONNX file as a dense network: one input and one output of float32, and between them a chain of Gemm,
 * MatMul, Add to either, Relu, LeakyRelu, Tanh, Sigmoid, Softmax, Flatten, Reshape, Identity and Constant. Says
 * what is otherwise where it is none.
 */
export function readDenseNetwork(
  file: Uint8Array,
  { inputs, outputs }: { readonly inputs: readonly TensorSpec[]; readonly outputs: readonly TensorSpec[] },
): DenseResult {
  try {
    const [input, output] = [inputs[0], outputs[0]];
    if (inputs.length !== 1 || input?.dtype !== "float32") throw new NotDense("takes other than one float32 input");
    if (outputs.length !== 1 || output?.dtype !== "float32") throw new NotDense("gives other than one float32 output");
    return { ok: true, network: readChain(readGraph(file, LIMITS.edgeNodes), input, output.name) };
  } catch (error) {
    return { ok: false, message: error instanceof NotDense ? error.message : "the file cannot be read" };
  }
}

class NotDense extends Error {}

/** What has been read so far: the value that the next node must take, with its shape, rows first. */
interface Chain {
  value: string;
  shape: readonly number[];
  parameters: number;
  readonly steps: DenseStep[];
  readonly constants: Map<string, FileTensor>;
  readonly opset: number;
}

function readChain({ opset, nodes, initializers }: Graph, input: TensorSpec, output: string): DenseNetwork {
  if (opset < FIRST_OPSET) throw new NotDense(`uses operators older than opset ${FIRST_OPSET}`);
  const constants = new Map(initializers);
  const chain: Chain = { value: input.name, shape: input.shape, parameters: 0, steps: [], constants, opset };
  const inputs = widthOf(input.shape);
  if (input.shape[0]! > LIMITS.edgeRows) throw new NotDense(`takes more than ${LIMITS.edgeRows} rows at once`);
  for (const node of nodes) {
    if (!isOnnx(node.domain)) throw new NotDense(`has an operator of ${node.domain}`);
    if (node.operator === "Constant") addConstant(chain, node);
    else follow(chain, node);
  }
  if (chain.value !== output) throw new NotDense("does not end in its output");
  if (!chain.steps.some(({ kind }) => kind === "dense")) throw new NotDense("has no dense layer");
  const { steps, parameters, shape } = chain;
  const rowProducts = countRowProducts(inputs, chain);
  if (rowProducts * LIMITS.edgeRows > LIMITS.edgeRunProducts) throw new NotDense("takes too long for a row");
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

function addConstant({ constants }: Chain, { outputs, attributes }: GraphNode): void {
  const tensor = attributes.get("value")?.tensor;
  if (tensor === undefined) throw new NotDense("has a constant that is no tensor");
  constants.set(outputs[0] ?? "", tensor);
}

/** Takes one node: it must use what the one before it gave, and nothing else that is computed. */
function follow(chain: Chain, node: GraphNode): void {
  const from = node.inputs.indexOf(chain.value);
  if (from < 0 || node.outputs.length !== 1) throw new NotDense("is not a chain of operators");
  if (from > 0 && node.operator !== "Add") throw new NotDense(`has a ${node.operator} that computes with other inputs`);
  apply(chain, node, node.inputs[from === 0 ? 1 : 0]);
  chain.value = node.outputs[0] ?? "";
}

function apply(chain: Chain, node: GraphNode, other: string | undefined): void {
  switch (node.operator) {
    case "Gemm":
      return addGemm(chain, node);
    case "MatMul":
      return addLayer(chain, matrixOf(chain, other), false, 1);
    case "Add":
      return addBias(chain, constantOf(chain, other), 1);
    case "Relu":
      return void chain.steps.push({ kind: "relu" });
    case "Tanh":
      return void chain.steps.push({ kind: "tanh" });
    case "Sigmoid":
      return void chain.steps.push({ kind: "sigmoid" });
    case "LeakyRelu":
      return void chain.steps.push({ kind: "leakyRelu", slope: node.attributes.get("alpha")?.float ?? 0.01 });
    case "Softmax":
      return addSoftmax(chain, node);
    case "Flatten":
      if ((node.attributes.get("axis")?.integer ?? 1) !== 1) throw new NotDense("flattens rows together");
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

function addGemm(chain: Chain, { inputs, attributes }: GraphNode): void {
  if ((attributes.get("transA")?.integer ?? 0) !== 0) throw new NotDense("transposes its rows");
  const isTransposed = (attributes.get("transB")?.integer ?? 0) !== 0;
  addLayer(chain, matrixOf(chain, inputs[1]), isTransposed, attributes.get("alpha")?.float ?? 1);
  const bias = inputs[2] ?? "";
  if (bias !== "") addBias(chain, constantOf(chain, bias), attributes.get("beta")?.float ?? 1);
}

function addLayer(chain: Chain, matrix: FileTensor, isTransposed: boolean, factor: number): void {
  const [first = 0, second = 0] = matrix.dims;
  const [inputs, outputs] = isTransposed ? [second, first] : [first, second];
  if (chain.shape.length !== 2 || chain.shape[1] !== inputs) throw new NotDense("has layers that do not fit");
  count(chain, matrix);
  const values = floatsOf(matrix);
  const weights = isTransposed ? transpose(values, outputs, inputs) : values;
  if (factor !== 1) for (let i = 0; i < weights.length; i++) weights[i] = weights[i]! * factor;
  chain.shape = [chain.shape[0] ?? -1, outputs];
  widthOf(chain.shape);
  chain.steps.push({ kind: "dense", inputs, outputs, weights, bias: new Float32Array(outputs) });
}

/** Into the layer just before: [outputs], [1, outputs], or one number for all. */
function addBias(chain: Chain, tensor: FileTensor, factor: number): void {
  const layer = chain.steps.at(-1);
  if (layer?.kind !== "dense" || chain.shape.length !== 2) throw new NotDense("adds elsewhere than behind a layer");
  const last = tensor.dims.at(-1) ?? 1;
  const isRow = tensor.dims.length <= 2 && tensor.dims.slice(0, -1).every((size) => size === 1);
  if (!isRow || (last !== layer.outputs && last !== 1)) throw new NotDense("adds more than a row");
  count(chain, tensor);
  const values = floatsOf(tensor);
  for (let i = 0; i < layer.outputs; i++) layer.bias[i]! += factor * values[last === 1 ? 0 : i]!;
}

function addSoftmax(chain: Chain, { attributes }: GraphNode): void {
  const axis = attributes.get("axis")?.integer ?? (chain.opset < SOFTMAX_OPSET ? 1 : -1);
  if (chain.shape.length !== 2 || (axis !== 1 && axis !== -1)) throw new NotDense("has a softmax over other than rows");
  chain.steps.push({ kind: "softmax" });
}

/** The shape behind a Reshape that leaves rows apart: 0 keeps a size, -1 is what remains. */
function reshape({ shape }: Chain, { attributes }: GraphNode, target: FileTensor): number[] {
  const [rows = -1, ...sizes] = integersOf(target).map((size, axis) => (size === 0 ? (shape[axis] ?? 0) : size));
  if ((attributes.get("allowzero")?.integer ?? 0) !== 0) throw new NotDense("reshapes with allowzero");
  const width = widthOf(shape);
  const known = sizes.filter((size) => size !== -1).reduce((product, size) => product * size, 1);
  const open = sizes.filter((size) => size === -1).length;
  const isRows = rows === shape[0] || (rows === -1 && open === 0);
  if (!isRows || open > 1 || sizes.some((size) => size < -1)) throw new NotDense("reshapes rows together");
  const filled = sizes.map((size) => (size === -1 ? width / known : size));
  // A free first size that stands for other than the rows shows here, too.
  if (sizes.length === 0 || widthOf([-1, ...filled]) !== width) throw new NotDense("reshapes rows together");
  return [shape[0] ?? -1, ...filled];
}

function constantOf({ constants }: Chain, name: string | undefined): FileTensor {
  const tensor = constants.get(name ?? "");
  if (tensor === undefined) throw new NotDense("computes with more than its input and weights");
  return tensor;
}

function matrixOf(chain: Chain, name: string | undefined): FileTensor {
  const tensor = constantOf(chain, name);
  if (tensor.dims.length !== 2) throw new NotDense("has weights that are no matrix");
  return tensor;
}

/** Counts a tensor's numbers among the network's; before they are copied. */
function count(chain: Chain, tensor: FileTensor): void {
  if (tensor.type !== "float32") throw new NotDense("has weights that are not float32");
  chain.parameters += sizeOf(tensor);
  if (chain.parameters > LIMITS.edgeParameters) throw new NotDense(`has more than ${LIMITS.edgeParameters} parameters`);
}

/** Elements of a row; the first axis is that of the rows. */
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
