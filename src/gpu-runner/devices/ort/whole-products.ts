import type { OrtProvider } from "./ort-backend.ts";
import { inferShapes } from "../../../onnx/infer-shapes.ts";
import {
  countElements,
  floatOf,
  intOf,
  type OnnxModel,
  type OnnxNode,
  type OnnxTensor,
} from "../../../onnx/onnx-model.ts";
import { floatsOf, floatTensor, integersOf, integerTensor } from "../../../onnx/tensor-values.ts";

/** Matrix product by constant weights that a file stores as symmetric whole numbers, right before the product. */
export interface WholeProduct {
  readonly node: OnnxNode;
  readonly bits: 4 | 8;
  readonly inputs: number;
  readonly outputs: number;
  /** Multiply-adds for one row of the network's input, or for one vector where its sizes are unknown. */
  readonly multiplyAdds: number;
  /** Inputs of one output that share a scale. */
  readonly blockSize: number;
  /** Whole number of an output's weight, and its scale. */
  readonly weightAt: (output: number, input: number) => number;
  readonly scaleAt: (output: number, input: number) => number;
  /** For names that two products with the same weights share. */
  readonly weights: string;
}

/** Blocks that MatMulNBits takes on every provider; they must be powers of two. */
const [LEAST_BLOCK, LARGEST_BLOCK] = [16, 256];
/** Block of weights with one scale per output, where the operator needs blocks. */
const SPLIT_BLOCK = 32;

/**
 * Products of a network that may be computed in whole numbers: a DequantizeLinear of constant int4 or int8 weights with
 * zero points of zero is the second operand of a MatMul or plain Gemm. A node between the two, such as a Reshape, asks
 * for float32. None in a network that quantises its activations itself, since it says how.
 */
export function findWholeProducts(model: OnnxModel): WholeProduct[] {
  if (roundsByItself(model) || model.nodes.some(hasGraph)) return [];
  const widened = new Map(
    model.nodes.flatMap((node) => (isOwn(node, "DequantizeLinear") ? [[node.outputs[0]!, node] as const] : [])),
  );
  const found = model.nodes.flatMap((node) => {
    const widen = isProduct(node) ? widened.get(node.inputs[1]!) : undefined;
    const product = widen && readProduct(model, node, widen);
    return product === undefined ? [] : [product];
  });
  const shapes = found.length === 0 ? null : inferShapes(model, 1);
  return found.map((product) => {
    const { inputs, outputs, node } = product;
    const vectors = countElements(shapes?.get(node.inputs[0]!) ?? [inputs]) / inputs;
    return { ...product, multiplyAdds: vectors * inputs * outputs };
  });
}

/** Operators by which a file says how activations are quantised. */
const ROUNDING = new Set(["QuantizeLinear", "DynamicQuantizeLinear"]);

/** Whether a network's answers depend on how a backend rounds activations to whole numbers. */
export function roundsActivations(model: OnnxModel): boolean {
  // Whatever another provider rounds, the CPU's does too.
  return roundsByItself(model) || findWholeProducts(model).some((each) => isComputedWhole(each, "cpu"));
}

/** Whether a file says itself how activations are quantised. */
export function roundsByItself({ nodes }: Pick<OnnxModel, "nodes">): boolean {
  return nodes.some(({ operator }) => ROUNDING.has(operator));
}

/** A graph inside may read any value around it. */
function hasGraph({ attributes }: OnnxNode): boolean {
  return [...attributes.values()].some(({ kind }) => kind === "other");
}

function isOwn({ operator, domain }: OnnxNode, wanted: string): boolean {
  return operator === wanted && domain === "";
}

function isProduct(node: OnnxNode): boolean {
  if (isOwn(node, "MatMul")) return true;
  const isPlain = floatOf(node, "alpha", 1) === 1 && floatOf(node, "beta", 1) === 1 && intOf(node, "transA", 0) === 0;
  return isOwn(node, "Gemm") && isPlain;
}

function readProduct(
  { weights }: OnnxModel,
  node: OnnxNode,
  widen: OnnxNode,
): Omit<WholeProduct, "multiplyAdds"> | undefined {
  const [tensor, scale, zero] = widen.inputs.map((name) => weights.get(name));
  if (tensor === undefined || scale?.dtype !== "float32" || tensor.dims.length !== 2) return undefined;
  if (tensor.dtype !== "int4" && tensor.dtype !== "int8") return undefined;
  if (widen.inputs[2] && !(zero && integersOf(zero).every((each) => each === 0))) return undefined;
  const isTransposed = intOf(node, "transB", 0) !== 0;
  const [rows, columns] = tensor.dims as [number, number];
  const [inputs, outputs] = isTransposed ? [columns, rows] : [rows, columns];
  const inputAxis = isTransposed ? 1 : 0;
  const named = intOf(widen, "axis", 1);
  const isAlongInputs = (named < 0 ? named + 2 : named) === inputAxis;
  const blockSize = intOf(widen, "block_size", 0);
  const scales = floatsOf(scale);
  const blocks = Math.ceil(inputs / blockSize);
  const isBlocked =
    blockSize >= LEAST_BLOCK &&
    blockSize <= LARGEST_BLOCK &&
    Number.isInteger(Math.log2(blockSize)) &&
    isAlongInputs &&
    tensor.dtype === "int4";
  const isByOutput =
    blockSize === 0 &&
    !isAlongInputs &&
    scales.length === outputs &&
    scale.dims.length === 1 &&
    tensor.dtype === "int8";
  if (!isBlocked && !isByOutput) return undefined;
  const whole = integersOf(tensor);
  const scaleInBlock = (output: number, block: number) =>
    scales[isTransposed ? output * blocks + block : block * outputs + output]!;
  return {
    node,
    bits: tensor.dtype === "int4" ? 4 : 8,
    inputs,
    outputs,
    blockSize: isBlocked ? blockSize : inputs,
    weightAt: (output, input) => whole[isTransposed ? output * inputs + input : input * outputs + output]!,
    scaleAt: (output, input) => (isBlocked ? scaleInBlock(output, Math.floor(input / blockSize)) : scales[output]!),
    weights: widen.outputs[0]!,
  };
}

/**
 * Multiply-adds below which float32 is faster: the operators that round activations cost more than the product saves.
 * Measured by ONNX Runtime 1.30 on a shared Xeon with AMX and VNNI.
 */
const LEAST_MULTIPLY_ADDS = 2 ** 20;

/**
 * Whether a provider computes a product in whole numbers. On the CPU those of 4 bits are as fast at any size. Others than
 * these two leave a file as it is: nothing has shown there that whole numbers are faster, or right.
 */
export function isComputedWhole(
  { bits, multiplyAdds }: Pick<WholeProduct, "bits" | "multiplyAdds">,
  provider: OrtProvider,
): boolean {
  if (provider !== "cpu" && provider !== "webgpu") return false;
  return multiplyAdds >= LEAST_MULTIPLY_ADDS || (bits === 4 && provider === "cpu");
}

/**
 * The same network with these products as operators that a provider computes in whole numbers. It rounds the activations
 * to 8 bits, each row by itself, so that the rows of a batch do not change each other.
 *
 * - Weights of 4 bits become `MatMulNBits` of ONNX Runtime's own domain, at the accuracy level of int8 activations.
 * - Weights of 8 bits become a `MatMulInteger` on the CPU provider. Its WebGPU provider lacks that operator, and takes
 *   them by `MatMulNBits`.
 */
export function computeInWholeNumbers(model: OnnxModel, provider: OrtProvider): OnnxModel {
  const found = findWholeProducts(model).filter((product) => isComputedWhole(product, provider));
  const products = new Map(found.map((product) => [product.node, product]));
  if (products.size === 0) return model;
  const writer = new ProductWriter(model);
  for (const node of model.nodes) {
    const product = products.get(node);
    if (product === undefined) writer.nodes.push(node);
    else if (product.bits === 8 && provider === "cpu") writer.addByRows(product);
    else writer.addByBlocks(product);
  }
  return writer.finish();
}

const [FLOAT, UINT8] = [1, 2];
/** First opset whose ReduceMax takes its axes as an input. */
const AXES_AS_INPUT = 18;
/** Level of MatMulNBits at which products are of int8. */
const INT8_ACTIVATIONS = 4;
const HIGH = 127;
const MIDDLE = 128;
/** Keeps the scale of a row of zeros from being zero. */
const LEAST_SCALE = 1e-30;

/** Nodes and weights of a network that grow by products. */
class ProductWriter {
  readonly nodes: OnnxNode[] = [];
  readonly #model: OnnxModel;
  readonly #weights: Map<string, OnnxTensor>;
  readonly #prefix: string;
  /** Activations that are rounded already. */
  readonly #rounded = new Set<string>();
  #usesOwnDomain = false;

  constructor(model: OnnxModel) {
    this.#model = model;
    this.#weights = new Map(model.weights);
    // No name of the file begins so.
    const names = [...model.weights.keys(), ...model.inputs.map(({ name }) => name)];
    for (const { outputs } of model.nodes) names.push(...outputs);
    let prefix = "whole";
    while (names.some((name) => name.startsWith(`${prefix}/`))) prefix += "_";
    this.#prefix = prefix;
  }

  finish(): OnnxModel {
    const read = new Set(this.nodes.flatMap(({ inputs }) => inputs));
    const outputs = new Set(this.#model.outputs.map(({ name }) => name));
    const isUsed = (name: string) => read.has(name) || outputs.has(name);
    const nodes = this.nodes.filter((node) => node.operator !== "DequantizeLinear" || isUsed(node.outputs[0]!));
    const left = new Set([...outputs, ...nodes.flatMap(({ inputs }) => inputs)]);
    const weights = new Map([...this.#weights].filter(([name]) => left.has(name)));
    const domains = this.#usesOwnDomain ? new Map([...this.#model.domains, ["com.microsoft", 1]]) : this.#model.domains;
    return { ...this.#model, domains, nodes, weights };
  }

  addByBlocks({ node, bits, inputs, outputs, weightAt, scaleAt, weights, blockSize: given }: WholeProduct): void {
    const blockSize = bits === 4 ? given : SPLIT_BLOCK;
    const blocks = Math.ceil(inputs / blockSize);
    const blockBytes = (blockSize * bits) / 8;
    const [packed, scales] = [`${weights}/blocks`, `${weights}/scales`].map((name) => this.#name(name));
    if (!this.#weights.has(packed!)) {
      // Whole numbers are stored without a sign; the middle is zero, also behind the last input.
      const middle = 2 ** (bits - 1);
      const bytes = new Uint8Array(outputs * blocks * blockBytes).fill(bits === 4 ? 0x88 : middle);
      const floats = new Float32Array(outputs * blocks);
      for (let output = 0; output < outputs; output++) {
        const from = output * blocks;
        for (let block = 0; block < blocks; block++) floats[from + block] = scaleAt(output, block * blockSize);
        for (let input = 0; input < inputs; input++) {
          const whole = weightAt(output, input) + middle;
          const place = from * blockSize + input;
          if (bits === 8) bytes[place] = whole;
          else
            bytes[place >> 1] =
              place & 1 ? (bytes[place >> 1]! & 15) | (whole << 4) : (bytes[place >> 1]! & 240) | whole;
        }
      }
      this.#weights.set(packed!, { name: packed!, dtype: "uint8", dims: [outputs, blocks, blockBytes], bytes });
      this.#weights.set(scales!, floatTensor(scales!, [outputs * blocks], floats));
    }
    const attributes = { K: inputs, N: outputs, bits, block_size: blockSize, accuracy_level: INT8_ACTIVATIONS };
    this.#usesOwnDomain = true;
    this.#finishProduct(node, (output) =>
      this.#add("MatMulNBits", [node.inputs[0]!, packed!, scales!], output, attributes, "com.microsoft"),
    );
  }

  addByRows({ node, inputs, outputs, weightAt, scaleAt, weights }: WholeProduct): void {
    const activation = this.#roundRows(node.inputs[0]!);
    const [matrix, scales] = [`${weights}/matrix`, `${weights}/channel scales`].map((name) => this.#name(name));
    if (!this.#weights.has(matrix!)) {
      const whole = new Int8Array(inputs * outputs);
      for (let input = 0; input < inputs; input++)
        for (let output = 0; output < outputs; output++) whole[input * outputs + output] = weightAt(output, input);
      const bytes = new Uint8Array(whole.buffer);
      this.#weights.set(matrix!, { name: matrix!, dtype: "int8", dims: [inputs, outputs], bytes });
      const floats = Float32Array.from({ length: outputs }, (_, output) => scaleAt(output, 0));
      this.#weights.set(scales!, floatTensor(scales!, [outputs], floats));
    }
    const own = (part: string) => this.#name(`${node.outputs[0]}/${part}`);
    const sum = this.#add("MatMulInteger", [activation.whole, matrix!, this.#middle()], own("sum"));
    const float = this.#add("Cast", [sum], own("float"), { to: FLOAT });
    const scaled = this.#add("Mul", [float, scales!], own("scaled"));
    this.#finishProduct(node, (output) => this.#add("Mul", [scaled, activation.scale], output));
  }

  /** A Gemm's third operand is added behind its product. */
  #finishProduct({ inputs, outputs }: OnnxNode, write: (output: string) => string): void {
    const [output, summand] = [outputs[0]!, inputs[2]];
    if (!summand) write(output);
    else this.#add("Add", [write(this.#name(`${output}/product`)), summand], output);
  }

  /** An activation as uint8 around the middle, by the largest magnitude of each row of its last axis. */
  #roundRows(input: string): { readonly whole: string; readonly scale: string } {
    const own = (part: string) => this.#name(`${input}/${part}`);
    const rounded = { whole: own("whole"), scale: own("scale") };
    if (this.#rounded.has(input)) return rounded;
    this.#rounded.add(input);
    const magnitude = this.#add("Abs", [input], own("magnitude"));
    const byInput = this.#model.opset >= AXES_AS_INPUT;
    const axes = byInput ? [this.#keep(integerTensor(this.#name("last axis"), [-1]))] : [];
    const attributes = byInput ? { keepdims: 1 } : { keepdims: 1, axes: [-1] };
    const largest = this.#add("ReduceMax", [magnitude, ...axes], own("largest"), attributes);
    const step = this.#add("Mul", [largest, this.#scalar("step", 1 / HIGH)], own("step"));
    this.#add("Max", [step, this.#scalar("least scale", LEAST_SCALE)], rounded.scale);
    const level = this.#add("Round", [this.#add("Div", [input, rounded.scale], own("level"))], own("rounded"));
    const shifted = this.#add("Add", [level, this.#scalar("middle", MIDDLE)], own("shifted"));
    this.#add("Cast", [shifted], rounded.whole, { to: UINT8 });
    return rounded;
  }

  #middle(): string {
    return this.#keep({ name: this.#name("zero point"), dtype: "uint8", dims: [], bytes: Uint8Array.of(MIDDLE) });
  }

  #scalar(name: string, value: number): string {
    return this.#keep(floatTensor(this.#name(name), [], Float32Array.of(value)));
  }

  #keep(tensor: OnnxTensor): string {
    this.#weights.set(tensor.name, tensor);
    return tensor.name;
  }

  #name(part: string): string {
    return `${this.#prefix}/${part}`;
  }

  #add(
    operator: string,
    inputs: readonly string[],
    output: string,
    numbers: Readonly<Record<string, number | readonly number[]>> = {},
    domain = "",
  ): string {
    const attributes = new Map(
      Object.entries(numbers).map(([key, value]) => [
        key,
        typeof value === "number" ? ({ kind: "int", value } as const) : ({ kind: "ints", value } as const),
      ]),
    );
    this.nodes.push({ name: output, operator, domain, inputs, outputs: [output], attributes });
    return output;
  }
}
