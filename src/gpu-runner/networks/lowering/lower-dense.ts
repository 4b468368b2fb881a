import { countElements, floatOf, intOf, type OnnxNode } from "../../../onnx/onnx-model.ts";
import { emitBinary } from "./lower-elementwise.ts";
import { emitGemm, emitMatMul } from "./lower-product.ts";
import type { Lowering } from "./lowering.ts";
import { type Activation, type Constant, unsupported } from "./network-value.ts";
import { isHeavy, roundedWords } from "../tile-operators.ts";
import { narrowBitsOf, WEIGHT_TYPES } from "./weight-pool.ts";

/** Numbers that a product in whole numbers multiplies by one scale: those of a vector. */
const WHOLE_STEP = 16;

/** `Gemm`: a dense operator where weights and bias are constants, else a product of activations. */
export function lowerGemm(lowering: Lowering, node: OnnxNode): void {
  const outputs = lowering.shapeOf(node).shape[1]!;
  const [matrix, bias] = [lowering.valueOf(node, 1), node.inputs[2] ? lowering.valueOf(node, 2) : undefined];
  const size = bias === undefined ? 1 : countElements(bias.shape);
  const isDense = matrix.kind === "constant" && bias?.kind !== "activation" && (size === 1 || size === outputs);
  if (!isDense || intOf(node, "transA", 0) !== 0 || (bias?.shape.length === 2 && bias.shape[0] !== 1)) {
    emitGemm(lowering, node);
    return;
  }
  const weights = scaled(matrix, floatOf(node, "alpha", 1));
  const isTransposed = intOf(node, "transB", 0) !== 0;
  const inputs = countElements(weights.shape) / outputs;
  const beta = floatOf(node, "beta", 1);
  const values =
    bias && Array.from({ length: outputs }, (_, output) => beta * (bias.floats[size === 1 ? 0 : output] ?? 0));
  emitDense(lowering, node, { weights, inputs, outputs, isTransposed, bias: values });
}

/** `MatMul`: a dense operator where the second operand is a constant matrix, else a product of activations. */
export function lowerMatMul(lowering: Lowering, node: OnnxNode): void {
  const weights = lowering.valueOf(node, 1);
  if (weights.kind === "activation" || weights.shape.length !== 2) {
    emitMatMul(lowering, node);
    return;
  }
  const [inputs, outputs] = weights.shape;
  emitDense(lowering, node, { weights, inputs: inputs!, outputs: outputs!, isTransposed: false });
}

/**
 * Adds a constant to the output of a dense operator or convolution: as its bias where it has none, else as its own
 * operator.
 */
export function lowerAdd(lowering: Lowering, node: OnnxNode): void {
  const sides = [lowering.valueOf(node, 0), lowering.valueOf(node, 1)];
  if (sides.every(({ kind }) => kind === "activation") && lowering.add(node)) return;
  for (const [index, side] of sides.entries()) {
    if (side.kind === "constant" && lowering.addBias(node, 1 - index, side)) return;
  }
  emitBinary(lowering, node);
}

interface Dense {
  readonly weights: Constant;
  readonly inputs: number;
  readonly outputs: number;
  /** Whether the weights of one output are contiguous. */
  readonly isTransposed: boolean;
  readonly bias?: readonly number[] | undefined;
}

function emitDense(lowering: Lowering, node: OnnxNode, dense: Dense): void {
  const input = lowering.activationOf(node, 0);
  if (input.rowAxis === input.shape.length - 1) throw unsupported(node, "it mixes rows");
  const output = lowering.reserve(node);
  emitDenseInto(lowering, input, output, dense, (op) => {
    const { rows = 1, weightType = 0, scaleBlock = 0 } = op.numbers;
    const bits = narrowBitsOf(weightType);
    const hasBlocks = scaleBlock === dense.inputs || scaleBlock % WHOLE_STEP === 0;
    const fits = bits === 16 ? fitsHalves(dense.weights) : hasBlocks && lowering.isWhole(node);
    const isNarrow = weightType !== WEIGHT_TYPES[32] && fits && isHeavy(op.work, rows);
    const rounded = () => lowering.roundedOf(node.inputs[0]!, bits, roundedWords(rows, dense.inputs, bits));
    lowering.emit(node, isNarrow ? { ...op, turned: rounded() } : op, output);
  });
}

/** Eight products of these and of numbers below 2 stay below the largest float of 16 bits. */
const LARGEST_IN_HALVES = 65_504 / 16;

function fitsHalves({ floats }: Constant): boolean {
  return floats.every((value) => Math.abs(value) <= LARGEST_IN_HALVES);
}

/** Dense operator whose output no node names. */
export function emitDenseInto(
  lowering: Lowering,
  input: Activation,
  { shape }: Pick<Activation, "shape">,
  { weights, inputs, outputs, isTransposed, bias }: Dense,
  emit: (op: Omit<Lowering["operators"][number], "output">) => void,
): void {
  const at = (output: number, place: number) => (isTransposed ? output * inputs + place : place * outputs + output);
  const placed = lowering.weights.putMatrix(weights, { outputs, inputs, at }, "channels");
  const rows = countElements(shape) / outputs;
  const offset = bias === undefined ? -1 : lowering.weights.putFloats(bias);
  const items = Math.ceil(outputs / 4) * Math.ceil(rows / 4);
  const numbers = { ...placed, bias: offset, channels: inputs, filters: outputs, rows, items };
  emit({ kind: "dense", numbers, input, work: rows * inputs * outputs });
}

function scaled(constant: Constant, factor: number): Constant {
  if (factor === 1) return constant;
  return { kind: "constant", shape: constant.shape, floats: constant.floats.map((value) => factor * value) };
}
