import { countElements, floatOf, type OnnxNode } from "../../../onnx/onnx-model.ts";
import type { Lowering } from "./lowering.ts";
import { broadcastStrides, type OpNumbers, stridesOf, walkOver } from "./network-op.ts";
import { type Activation, type Constant, unsupported } from "./network-value.ts";

/** Binary functions in kernels/network/map.wgsl, and the same with swapped operands; null where there is none. */
const FUNCTIONS: Readonly<Record<string, readonly [number, number | null]>> = {
  Add: [1, 1],
  Sub: [2, 9],
  Mul: [3, 3],
  Div: [4, 10],
  Pow: [5, null],
  Min: [6, 6],
  Max: [7, 7],
};
const SQUARE = 8;
/** Activations in kernels/network/finish.wgsl. */
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
} as const;
const LARGEST = 3.4028234e38;

/** Arithmetic on two operands, one of which may be a constant. */
export function emitBinary(lowering: Lowering, node: OnnxNode): void {
  const functions = FUNCTIONS[node.operator];
  if (functions === undefined || node.inputs.length !== 2) throw unsupported(node, "it does not have two operands");
  const [first, second] = [lowering.valueOf(node, 0), lowering.valueOf(node, 1)];
  const swapped = first.kind === "constant";
  const [a, b] = swapped ? [second, first] : [first, second];
  if (a.kind === "constant") throw unsupported(node, "both operands stand in the file");
  const which = functions[swapped ? 1 : 0];
  if (which === null || which === undefined) throw unsupported(node, "its first operand is a constant");
  if (node.operator === "Pow" && b.kind === "constant" && b.floats.every((value) => value === 2)) {
    emitMap(lowering, node, a, { which: SQUARE });
    return;
  }
  emitMap(lowering, node, a, { which }, b);
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
  const numbers = activationOf(lowering, node);
  if (!lowering.finish(node, numbers)) emitMap(lowering, node, lowering.activationOf(node, 0), numbers);
}

function activationOf(lowering: Lowering, node: OnnxNode): OpNumbers {
  const activation = ACTIVATIONS[node.operator as keyof typeof ACTIVATIONS];
  switch (node.operator) {
    case "LeakyRelu":
      return { activation, alpha: floatOf(node, "alpha", 0.01) };
    case "Elu":
      return { activation, alpha: floatOf(node, "alpha", 1) };
    case "HardSigmoid":
      return { activation, alpha: floatOf(node, "alpha", 0.2), beta: floatOf(node, "beta", 0.5) };
    case "Clip": {
      const [low, high] = [1, 2].map((input) => lowering.optionalConstant(node, input)?.floats[0]);
      return { activation, alpha: Math.max(low ?? -LARGEST, -LARGEST), beta: Math.min(high ?? LARGEST, LARGEST) };
    }
    default:
      return { activation };
  }
}

/** Batch normalisation at inference: a factor and a summand for each channel. */
export function lowerBatchNorm(lowering: Lowering, node: OnnxNode): void {
  const input = lowering.activationOf(node, 0);
  const [scale, shift, mean, variance] = [1, 2, 3, 4].map((index) => lowering.constantOf(node, index).floats);
  const epsilon = floatOf(node, "epsilon", 1e-5);
  const factors = scale!.map((value, channel) => value / Math.sqrt(variance![channel]! + epsilon));
  const summands = shift!.map((value, channel) => value - mean![channel]! * factors[channel]!);
  const shape = [factors.length, ...input.shape.slice(2).map(() => 1)];
  const constant = (floats: Float32Array): Constant => ({ kind: "constant", shape, floats });
  const between = lowering.reserve(node);
  emitMap(lowering, node, input, { which: FUNCTIONS["Mul"]![0] }, constant(factors), between);
  emitMap(lowering, node, between, { which: FUNCTIONS["Add"]![0] }, constant(summands));
}
