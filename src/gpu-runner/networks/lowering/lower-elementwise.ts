import { countElements, floatOf, intOf, type OnnxNode, textOf } from "../../../onnx/onnx-model.ts";
import { lowerView } from "./lower-movement.ts";
import type { Lowering } from "./lowering.ts";
import { broadcastStrides, type OpNumbers, stridesOf, walkOver, SQUARE } from "./network-op.ts";
import { type Activation, type Constant, type NetworkValue, unsupported, scalar } from "./network-value.ts";

/**
 * Functions of two elements in kernels/network/map.wgsl and seldom.wgsl, and the same with swapped operands; null where
 * there is none.
 */
const FUNCTIONS: Readonly<Record<string, readonly [number, number | null]>> = {
  Add: [1, 1],
  Sub: [2, 9],
  Mul: [3, 3],
  Div: [4, 10],
  Pow: [5, null],
  Min: [6, 6],
  Max: [7, 7],
  Sum: [1, 1],
  Mean: [1, 1],
  Mod: [16, null],
  And: [19, 19],
  Or: [20, 20],
  Xor: [21, 21],
  Equal: [22, 22],
  Greater: [23, 24],
  Less: [24, 23],
  GreaterOrEqual: [25, 26],
  LessOrEqual: [26, 25],
  PRelu: [27, null],
};
const REMAINDER_AS_IN_C = 17;
const DIVIDE_WHOLE = 18;
/** Activations in kernels/network/finish.wgsl and, from 16 on, in seldom.wgsl. */
export const ACTIVATIONS = {
  Relu: 1,
  LeakyRelu: 2,
  Clip: 3,
  Sigmoid: 4,
  HardSigmoid: 5,
  Tanh: 6,
  Sqrt: 7,
  Exp: 8,
  Log: 9,
  Neg: 10,
  Abs: 11,
  HardSwish: 12,
  Elu: 13,
  Softplus: 14,
  Reciprocal: 15,
  Erf: 16,
  Gelu: 17,
  Mish: 19,
  Selu: 20,
  Celu: 21,
  Softsign: 22,
  Swish: 23,
  Sin: 26,
  Cos: 27,
  Tan: 28,
  Asin: 29,
  Acos: 30,
  Atan: 31,
  Sinh: 32,
  Cosh: 33,
  Asinh: 34,
  Acosh: 35,
  Atanh: 36,
  Floor: 37,
  Ceil: 38,
  Round: 39,
  Sign: 41,
  Not: 43,
  IsNaN: 45,
  IsInf: 46,
  ThresholdedRelu: 47,
  Shrink: 48,
} as const;
/** Largest float32: without a limit, ONNX Runtime's Clip takes this one. */
const LARGEST = 3.4028234663852886e38;
const TANH_GELU = 18;
const ROUND = 39;
const TRUNCATE = 40;
const HALF = 42;
const IS_TRUE = 44;

/** Arithmetic on two operands or more, which may be constants. */
export function emitBinary(lowering: Lowering, node: OnnxNode): void {
  if (node.inputs.length === 1) {
    lowering.view(node, lowering.activationOf(node, 0));
    return;
  }
  const last = node.inputs.length - 1;
  let first: NetworkValue = lowering.valueOf(node, 0);
  for (let input = 1; input <= last; input++) {
    const numbers = input === last && isWhole(lowering, node) ? { activation: ROUND } : {};
    first = emitPair(lowering, node, first, lowering.valueOf(node, input), numbers);
  }
  if (node.operator !== "Mean") return;
  const share: Constant = { kind: "constant", shape: [], floats: Float32Array.of(1 / node.inputs.length) };
  emitMap(lowering, node, lowering.activationOf({ ...node, inputs: node.outputs }, 0), { which: 3 }, share);
}

/** Whether whole numbers come out that are not exact without rounding. */
function isWhole(lowering: Lowering, node: OnnxNode): boolean {
  return node.operator === "Pow" && /^u?int/.test(lowering.dtypeOf(node.outputs[0]!) ?? "");
}

function emitPair(
  lowering: Lowering,
  node: OnnxNode,
  first: NetworkValue,
  second: NetworkValue,
  numbers: OpNumbers,
): NetworkValue {
  const [plain, changedOver] = functionsOf(lowering, node);
  const output = lowering.reserve(node);
  if (node.operator === "Pow" && second.kind === "constant" && second.floats.every((value) => value === 2)) {
    emitMap(lowering, node, lowering.inArena(first), { ...numbers, which: SQUARE }, undefined, output);
  } else if (first.kind === "constant" && second.kind === "activation" && changedOver !== null) {
    emitMap(lowering, node, second, { ...numbers, which: changedOver }, first, output);
  } else {
    emitMap(lowering, node, lowering.inArena(first), { ...numbers, which: plain }, second, output);
  }
  return output;
}

function functionsOf(lowering: Lowering, node: OnnxNode): readonly [number, number | null] {
  if (node.operator === "Mod" && intOf(node, "fmod", 0) !== 0) return [REMAINDER_AS_IN_C, null];
  const isWholeDivision = node.operator === "Div" && /^u?int/.test(lowering.dtypeOf(node.outputs[0]!) ?? "");
  return isWholeDivision ? [DIVIDE_WHOLE, null] : FUNCTIONS[node.operator]!;
}

/** Operator over all elements of a node's output. */
export function emitMap(
  lowering: Lowering,
  node: OnnxNode,
  a: Activation,
  numbers: OpNumbers,
  b?: Activation | Constant,
  output = lowering.reserve(node),
): void {
  const { shape } = output;
  const [strides, ofA] = [stridesOf(shape), broadcastStrides(a.shape, shape)];
  const ofB = b === undefined ? shape.map(() => 0) : broadcastStrides(b.shape, shape);
  const walk = walkOver(shape.map((size, axis) => ({ size, a: ofA[axis]!, b: ofB[axis]!, out: strides[axis]! })));
  if (walk === null) throw unsupported(node, "its operands have too many axes");
  const items = countElements(shape);
  const constant =
    b?.kind === "constant" ? { other: lowering.weights.putFloats(b.floats), otherIsConstant: 1 } : undefined;
  const other = b?.kind === "activation" ? { other: b } : undefined;
  lowering.emit(
    node,
    { kind: "map", numbers: { ...walk, ...constant, ...numbers, items }, input: a, ...other, work: items },
    output,
  );
}

/** Unary function, applied at the end of the operator before it where possible. */
export function lowerActivation(lowering: Lowering, node: OnnxNode): void {
  emitActivation(lowering, node, activationOf(node));
}

function emitActivation(lowering: Lowering, node: OnnxNode, numbers: OpNumbers): void {
  if (!lowering.finish(node, numbers)) emitMap(lowering, node, lowering.activationOf(node, 0), numbers);
}

function activationOf(node: OnnxNode): OpNumbers {
  const activation = ACTIVATIONS[node.operator as keyof typeof ACTIVATIONS];
  switch (node.operator) {
    case "LeakyRelu":
      return { activation, alpha: floatOf(node, "alpha", 0.01) };
    case "Elu":
      return { activation, alpha: floatOf(node, "alpha", 1) };
    case "HardSigmoid":
      return { activation, alpha: floatOf(node, "alpha", 0.2), beta: floatOf(node, "beta", 0.5) };
    case "ThresholdedRelu":
    case "Swish":
    case "Celu":
      return { activation, alpha: floatOf(node, "alpha", 1) };
    case "Selu":
      return {
        activation,
        alpha: floatOf(node, "alpha", 1.6732632423543772),
        beta: floatOf(node, "gamma", 1.0507009873554805),
      };
    case "Shrink":
      return { activation, alpha: floatOf(node, "lambd", 0.5), beta: floatOf(node, "bias", 0) };
    case "IsInf":
      return { activation, alpha: intOf(node, "detect_negative", 1), beta: intOf(node, "detect_positive", 1) };
    case "Gelu":
      return { activation: textOf(node, "approximate", "none") === "tanh" ? TANH_GELU : activation };
    default:
      return { activation };
  }
}

/** `Clip`; its limits are attributes before opset 11, and may be computed since. */
export function lowerClip(lowering: Lowering, node: OnnxNode): void {
  const [low, high] = [1, 2].map((input) => (node.inputs[input] ? lowering.valueOf(node, input) : undefined));
  if (low?.kind !== "activation" && high?.kind !== "activation") {
    const alpha = low?.floats[0] ?? floatOf(node, "min", -LARGEST);
    const beta = high?.floats[0] ?? floatOf(node, "max", LARGEST);
    emitActivation(lowering, node, { activation: ACTIVATIONS.Clip, alpha, beta });
    return;
  }
  let value = lowering.activationOf(node, 0);
  for (const [limit, which] of [[low, FUNCTIONS["Max"]![0]] as const, [high, FUNCTIONS["Min"]![0]] as const]) {
    if (limit === undefined) continue;
    const output = lowering.reserve(node);
    emitMap(lowering, node, value, { which }, limit, output);
    value = output;
  }
}

const WHOLE = /^(?:u?int|bool)/;
/** Types whose numbers are a part of float32's; whole ones only as far as the backend keeps whole numbers exactly. */
const KEPT: ReadonlySet<string> = new Set(["float32", "float64", "int32", "int64", "uint32", "uint64"]);
/** Numbers of small whole types: beyond them they begin again, from `first` on. */
const SMALL: Readonly<Record<string, { readonly first: number; readonly count: number }>> = {
  int8: { first: -128, count: 256 },
  uint8: { first: 0, count: 256 },
  int16: { first: -32_768, count: 65_536 },
  uint16: { first: 0, count: 65_536 },
};

/** `Cast` between types that float32 stands for here: rounds towards zero, to 0 and 1, or to half floats. */
export function lowerCast(lowering: Lowering, node: OnnxNode): void {
  const [from, to] = [lowering.dtypeOf(node.inputs[0]!) ?? "", lowering.dtypeOf(node.outputs[0]!) ?? ""];
  if (from === "string") throw unsupported(node, "it reads numbers from text");
  if (to === from || from === "bool") lowerView(lowering, node);
  else if (to === "bool") emitActivation(lowering, node, { activation: IS_TRUE });
  else if (to === "float16") emitActivation(lowering, node, { activation: HALF });
  else if (Object.hasOwn(SMALL, to)) castToSmall(lowering, node, SMALL[to]!);
  else if (!KEPT.has(to)) throw unsupported(node, `it casts from ${from} to ${to}`);
  else if (WHOLE.test(to) && !WHOLE.test(from)) emitActivation(lowering, node, { activation: TRUNCATE });
  else lowerView(lowering, node);
}

function castToSmall(lowering: Lowering, node: OnnxNode, { first, count }: (typeof SMALL)[string]): void {
  const value = lowering.activationOf(node, 0);
  const copy = (): Activation => ({ ...value, region: { words: countElements(value.shape) }, offset: 0 });
  const [whole, shifted, kept] = [copy(), copy(), copy()];
  emitMap(lowering, node, value, { which: 0, activation: TRUNCATE }, undefined, whole);
  emitMap(lowering, node, whole, { which: FUNCTIONS["Sub"]![0] }, scalar(first), shifted);
  emitMap(lowering, node, shifted, { which: FUNCTIONS["Mod"]![0] }, scalar(count), kept);
  emitMap(lowering, node, kept, { which: FUNCTIONS["Add"]![0] }, scalar(first));
}

/** Batch normalisation at inference: a factor and a summand for each channel. */
export function lowerBatchNorm(lowering: Lowering, node: OnnxNode): void {
  if (intOf(node, "training_mode", 0) !== 0) throw unsupported(node, "it trains");
  const input = lowering.activationOf(node, 0);
  const [scale, shift, mean, variance] = [1, 2, 3, 4].map((index) => lowering.constantOf(node, index).floats);
  const epsilon = floatOf(node, "epsilon", 1e-5);
  const factors = scale!.map((value, channel) => value / Math.sqrt(variance![channel]! + epsilon));
  const summands = shift!.map((value, channel) => value - mean![channel]! * factors[channel]!);
  emitScaled(lowering, node, input, byChannel(input, factors), byChannel(input, summands));
}

/** Constant for each channel of pictures or series. */
function byChannel({ shape }: Activation, floats: Float32Array): Constant {
  return { kind: "constant", shape: [floats.length, ...shape.slice(2).map(() => 1)], floats };
}

/** A product and, where there is one, a sum, with operands that are repeated. */
export function emitScaled(
  lowering: Lowering,
  node: OnnxNode,
  input: Activation,
  factor: NetworkValue | undefined,
  summand: NetworkValue | undefined,
): void {
  const between = factor === undefined ? input : lowering.reserve(node);
  if (factor !== undefined) emitMap(lowering, node, input, { which: FUNCTIONS["Mul"]![0] }, factor, between);
  if (summand !== undefined) emitMap(lowering, node, between, { which: FUNCTIONS["Add"]![0] }, summand);
}
