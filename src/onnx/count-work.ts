import { countElements, intOf, intsOf, type OnnxModel, type OnnxNode } from "./onnx-model.ts";
import type { Shape } from "./shape-rule.ts";

/** Work of a network for one row. */
export interface WorkCount {
  /** Products that are added up: of convolutions, matrix products and recurrent layers. */
  readonly multiplyAdds: number;
  /** Two for each of those, and what else takes arithmetic, one for each number and step of it. */
  readonly flops: number;
}

/** Products of weights, and operations beside them; undefined where a shape is not known. */
type Work = (node: OnnxNode, inputs: readonly (Shape | undefined)[], output: Shape) => [number, number] | undefined;

/**
 * Counts what a network computes, by the shapes of `inferShapes`; null where one of them is missing that counts. Bias,
 * activation and normalisation are one operation for each number that they give (Softmax and recurrent gates more:
 * `RULES`); moving numbers about is none.
 */
export function countWork({ nodes }: OnnxModel, shapes: ReadonlyMap<string, Shape>): WorkCount | null {
  let [multiplyAdds, others] = [0, 0];
  for (const node of nodes) {
    const rule = RULES.get(node.operator);
    if (node.domain !== "" || rule === undefined) {
      if (MOVES.has(node.operator)) continue;
      return null;
    }
    const output = shapes.get(node.outputs.find((name) => name !== "") ?? "");
    const inputs = node.inputs.map((name) => shapes.get(name));
    const work = output && rule(node, inputs, output);
    if (work === undefined) return null;
    multiplyAdds += work[0];
    others += work[1];
  }
  const count = { multiplyAdds, flops: 2 * multiplyAdds + others };
  return Number.isSafeInteger(count.flops) ? count : null;
}

/** Each output is a sum over the window and the channels of its group; a bias is added to each. */
const convolve: Work = ({ inputs: names }, [, weights], output) => {
  if (!weights) return undefined;
  const elements = countElements(output);
  return [elements * countElements(weights.slice(1)), names[2] ? elements : 0];
};

/** Each input is spread over the window and the outputs of its group. */
const convolveBack: Work = ({ inputs: names }, [input, weights], output) => {
  if (!input || !weights) return undefined;
  return [countElements(input) * countElements(weights.slice(1)), names[2] ? countElements(output) : 0];
};

const quantisedConvolve: Work = (node, [, , , weights], output) => convolve(node, [undefined, weights], output);

const multiply: Work = (_, [one], output) => one && [countElements(output) * one.at(-1)!, 0];

const gemm: Work = (node, [one], output) => {
  const depth = one?.[intOf(node, "transA", 0) === 0 ? 1 : 0];
  if (depth === undefined) return undefined;
  const elements = countElements(output);
  return [elements * depth, node.inputs[2] ? elements : 0];
};

/**
 * Per step, row and direction: `gates` sums over input and state, and for each unit the biases, activations and
 * element-wise products of ONNX's equations.
 */
const recur =
  (gates: number, unitFlops: number): Work =>
  (node, [input, weights]) => {
    if (!input || !weights) return undefined;
    const hidden = intOf(node, "hidden_size", Number.NaN);
    const units = input[0]! * input[1]! * weights[0]! * hidden;
    const biases = node.inputs[3] ? 2 * gates : 0;
    return [units * gates * (input[2]! + hidden), units * (unitFlops + biases)];
  };

/** A comparison, or an addition, for each element of a window. */
const pool: Work = (node, _, output) => [0, countElements(output) * countElements(intsOf(node, "kernel_shape") ?? [])];

const perOutput =
  (flops: number): Work =>
  (_node, _inputs, output) => [0, flops * countElements(output)];

const perInput: Work = (_, [input]) => input && [0, countElements(input)];

/** One operation for each number that comes out. */
const SINGLE =
  "Abs Add And Ceil Clip Div Equal Exp Erf Floor Greater GreaterOrEqual LeakyRelu Less LessOrEqual Log Max Min Mod Mul" +
  " Neg Not Or PRelu Pow Reciprocal Relu Round Sigmoid Sign Sin Cos Sqrt Sub Sum Mean Tanh Where Xor ThresholdedRelu" +
  " DequantizeLinear QuantizeLinear DynamicQuantizeLinear Selu Elu Celu Softplus Softsign HardSigmoid HardSwish Mish Gelu Swish CumSum" +
  " Acos Acosh Asin Asinh Atan Atanh Cosh IsInf IsNaN Shrink Sinh Tan";
const MOVES: ReadonlySet<string> = new Set(
  (
    "Cast CastLike Concat Constant ConstantOfShape DepthToSpace Dropout Expand Flatten Gather GatherElements GatherND" +
    " Identity OneHot Pad Range Reshape Resize Shape Size Slice SpaceToDepth Split Squeeze Tile Transpose Trilu" +
    " Unsqueeze Upsample"
  ).split(" "),
);

const RULES: ReadonlyMap<string, Work> = new Map([
  ...SINGLE.split(" ").map((operator) => [operator, perOutput(1)] as const),
  ...(
    "ReduceMean ReduceSum ReduceMax ReduceMin ReduceProd ReduceL1 ReduceL2 ReduceSumSquare ReduceLogSum ReduceLogSumExp" +
    " GlobalAveragePool GlobalMaxPool ArgMax ArgMin TopK"
  )
    .split(" ")
    .map((operator) => [operator, perInput] as const),
  ...Object.entries<Work>({
    Conv: convolve,
    ConvInteger: convolve,
    QLinearConv: quantisedConvolve,
    ConvTranspose: convolveBack,
    MatMul: multiply,
    MatMulInteger: multiply,
    QLinearMatMul: multiply,
    Gemm: gemm,
    RNN: recur(1, 1),
    // z, r and h are activated; r ⊙ state, (1 − z) ⊙ h and z ⊙ state are multiplied, 1 − z and the sum are added.
    GRU: recur(3, 8),
    // i, o, f, c and the state are activated; three products, one sum.
    LSTM: recur(4, 9),
    MaxPool: pool,
    AveragePool: pool,
    // Scale and shift, once mean and variance are known.
    BatchNormalization: perOutput(2),
    // Two sums over the numbers, then centred, scaled, multiplied and shifted.
    LayerNormalization: perOutput(7),
    InstanceNormalization: perOutput(7),
    GroupNormalization: perOutput(7),
    MeanVarianceNormalization: perOutput(7),
    RMSNormalization: perOutput(5),
    LpNormalization: perOutput(3),
    // The largest, minus it, exponential, sum, quotient.
    Softmax: perOutput(5),
    LogSoftmax: perOutput(5),
  }),
]);
