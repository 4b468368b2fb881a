import {
  along,
  broadcast,
  countPlaces,
  readEinsum,
  type Shape,
  type ShapeRule,
  sliceOf,
  windowsOf,
} from "./shape-rule.ts";
import { countElements, intOf, intsOf } from "./onnx-model.ts";

const same: ShapeRule = ({ inputs: [input] }) => input && [input];

const together: ShapeRule = ({ inputs }) => {
  let shape: Shape | undefined = [];
  for (const each of inputs) shape = each && shape && broadcast(shape, each);
  return shape && [shape];
};

const convolve: ShapeRule = ({ node, inputs: [input, weights] }) => {
  if (!input || !weights) return undefined;
  const sizes = input.slice(2);
  const windows = windowsOf(node, sizes, weights.slice(2));
  return [[input[0]!, weights[0]!, ...sizes.map((size, axis) => countPlaces(size, windows[axis]!))]];
};

const pool: ShapeRule = ({ node, inputs: [input] }) => {
  if (!input) return undefined;
  const sizes = input.slice(2);
  const windows = windowsOf(node, sizes);
  const ceil = intOf(node, "ceil_mode", 0) !== 0;
  return [[...input.slice(0, 2), ...sizes.map((size, axis) => countPlaces(size, windows[axis]!, ceil))]];
};

/** A list counts as a row on the left and as a column on the right, and has no axis in the product. */
const multiply: ShapeRule = ({ inputs: [one, other] }) => {
  if (!one?.length || !other?.length) return undefined;
  const [isRow, isColumn] = [one.length === 1, other.length === 1];
  const outer = broadcast(one.slice(0, -2), other.slice(0, -2));
  if (outer === undefined || one.at(-1) !== other.at(isColumn ? -1 : -2)) return undefined;
  return [[...outer, ...(isRow ? [] : [one.at(-2)!]), ...(isColumn ? [] : [other.at(-1)!])]];
};

/** Letters name the axes of each operand. */
const einsum: ShapeRule = ({ node, inputs }) => {
  const ranks = inputs.map((shape) => shape?.length ?? Number.NaN);
  const found = readEinsum(node, ranks);
  if (found === undefined) return undefined;
  const sizes = new Map<string, number>();
  for (const [index, term] of found.terms.entries()) {
    for (const [axis, letter] of term.split("").entries()) {
      if ((sizes.get(letter) ?? 1) === 1) sizes.set(letter, inputs[index]![axis]!);
    }
  }
  return [found.output.split("").map((letter) => sizes.get(letter) ?? Number.NaN)];
};

const gemm: ShapeRule = ({ node, inputs: [one, other] }) => {
  if (!one || !other) return undefined;
  return [[one[intOf(node, "transA", 0) === 0 ? 0 : 1]!, other[intOf(node, "transB", 0) === 0 ? 1 : 0]!]];
};

const reshape: ShapeRule = ({ node, inputs: [input], numbers }) => {
  const target = numbers(1);
  if (!input || !target) return undefined;
  const keeps = intOf(node, "allowzero", 0) === 0;
  const sizes = target.map((size, axis) => (size === 0 && keeps ? input[axis]! : size));
  const known = countElements(sizes.filter((size) => size !== -1));
  return [sizes.map((size) => (size === -1 ? countElements(input) / known : size))];
};

const flatten: ShapeRule = ({ node, inputs: [input] }) => {
  if (!input) return undefined;
  const axis = along(intOf(node, "axis", 1), input);
  return [[countElements(input.slice(0, axis)), countElements(input.slice(axis))]];
};

const transpose: ShapeRule = ({ node, inputs: [input] }) => {
  if (!input) return undefined;
  const order = intsOf(node, "perm") ?? input.map((_, axis) => input.length - 1 - axis);
  return [order.map((axis) => input[axis]!)];
};

const concatenate: ShapeRule = ({ node, inputs }) => {
  const [first] = inputs;
  if (!first || inputs.some((each) => each?.length !== first.length)) return undefined;
  const axis = along(intOf(node, "axis", 0), first);
  const length = inputs.reduce((sum, each) => sum + each![axis]!, 0);
  return [first.toSpliced(axis, 1, length)];
};

const recur =
  (states: number): ShapeRule =>
  ({ node, inputs: [input, weights] }) => {
    if (!input || !weights || intOf(node, "layout", 0) !== 0) return undefined;
    const [steps, rows] = input;
    const state = [weights[0]!, rows!, intOf(node, "hidden_size", Number.NaN)];
    return [[steps!, ...state], ...Array.from({ length: states }, () => state)];
  };

/** Axes were an attribute before opset 13. */
const squeeze: ShapeRule = ({ inputs: [input], numbers, node }) => {
  if (!input) return undefined;
  const ones = () => input.flatMap((size, axis) => (size === 1 ? [axis] : []));
  const axes = intsOf(node, "axes") ?? (node.inputs[1] ? numbers(1) : ones());
  const dropped = axes?.map((axis) => along(axis, input));
  return dropped && [input.filter((_, axis) => !dropped.includes(axis))];
};

const unsqueeze: ShapeRule = ({ node, inputs: [input], numbers }) => {
  const axes = intsOf(node, "axes") ?? numbers(1);
  if (!input || !axes) return undefined;
  const rank = input.length + axes.length;
  const added = new Set(axes.map((axis) => (axis < 0 ? axis + rank : axis)));
  const rest = [...input];
  return [Array.from({ length: rank }, (_, axis) => (added.has(axis) ? 1 : rest.shift()!))];
};

/** Everything was an attribute before opset 10. */
const slice: ShapeRule = ({ inputs: [input], numbers, node }) => {
  const [starts, ends] = [intsOf(node, "starts") ?? numbers(1), intsOf(node, "ends") ?? numbers(2)];
  if (!input || !starts || !ends) return undefined;
  const axes = intsOf(node, "axes") ?? (node.inputs[3] ? numbers(3) : starts.map((_, axis) => axis));
  const steps = node.inputs[4] ? numbers(4) : starts.map(() => 1);
  if (!axes || !steps) return undefined;
  const sizes = [...input];
  axes.forEach((named, index) => {
    const axis = along(named, input);
    sizes[axis] = sliceOf(input[axis]!, starts[index]!, ends[index]!, steps[index]!).length;
  });
  return [sizes];
};

/** In equal parts, but for the last, where it does not say their lengths. */
const split: ShapeRule = ({ node, inputs: [input], numbers }) => {
  if (!input) return undefined;
  const axis = along(intOf(node, "axis", 0), input);
  const parts = node.outputs.length;
  const equal = Math.ceil(input[axis]! / parts);
  const lengths =
    intsOf(node, "split") ??
    (node.inputs[1]
      ? numbers(1)
      : node.outputs.map((_, part) => (part < parts - 1 ? equal : input[axis]! - equal * (parts - 1))));
  return lengths?.map((length) => input.toSpliced(axis, 1, length));
};

const gather: ShapeRule = ({ node, inputs: [input, indices] }) => {
  if (!input || !indices) return undefined;
  return [input.toSpliced(along(intOf(node, "axis", 0), input), 1, ...indices)];
};

const gatherND: ShapeRule = ({ node, inputs: [input, indices] }) => {
  if (!input || !indices?.length) return undefined;
  return [[...indices.slice(0, -1), ...input.slice(intOf(node, "batch_dims", 0) + indices.at(-1)!)]];
};

/** Over the axes that an attribute names, or since opset 18 (sums since 13) an input. */
const reduce: ShapeRule = ({ node, inputs: [input], numbers }) => {
  if (!input) return undefined;
  const named = intsOf(node, "axes") ?? (node.inputs[1] ? numbers(1) : []);
  if (named === undefined) return undefined;
  if (named.length === 0 && intOf(node, "noop_with_empty_axes", 0) !== 0) return [input];
  const gone = named.length === 0 ? [...input.keys()] : named.map((axis) => along(axis, input));
  if (intOf(node, "keepdims", 1) !== 0) return [input.map((size, axis) => (gone.includes(axis) ? 1 : size))];
  return [input.filter((_, axis) => !gone.includes(axis))];
};

const topK: ShapeRule = ({ node, inputs: [input], numbers }) => {
  const [k] = numbers(1) ?? [];
  if (!input || k === undefined) return undefined;
  const shape = input.toSpliced(along(intOf(node, "axis", -1), input), 1, k);
  return [shape, shape];
};

const argReduce: ShapeRule = ({ node, inputs: [input] }) => {
  if (!input) return undefined;
  const axis = along(intOf(node, "axis", 0), input);
  return [intOf(node, "keepdims", 1) === 0 ? input.toSpliced(axis, 1) : input.toSpliced(axis, 1, 1)];
};

const shapeOfIt: ShapeRule = ({ node, inputs: [input] }) => {
  if (!input) return undefined;
  const { length } = sliceOf(input.length, intOf(node, "start", 0), intOf(node, "end", input.length), 1);
  return [[length]];
};

const toSpace: ShapeRule = ({ node, inputs: [input] }) => {
  const block = intOf(node, "blocksize", Number.NaN);
  if (input?.length !== 4) return undefined;
  const [rows, channels, height, width] = input as [number, number, number, number];
  return node.operator === "DepthToSpace"
    ? [[rows, channels / block ** 2, height * block, width * block]]
    : [[rows, channels * block ** 2, height / block, width / block]];
};

const globalPool: ShapeRule = ({ inputs: [input] }) => input && [input.map((size, axis) => (axis < 2 ? size : 1))];

const UNCHANGED =
  "Abs Acos Acosh Asin Asinh Atan Atanh BatchNormalization BitwiseNot Cast CastLike Ceil Celu Clip Cos Cosh CumSum" +
  " EyeLike Dropout DequantizeLinear Elu Erf Exp Floor Gelu GroupNormalization Hardmax HardSigmoid HardSwish Identity" +
  " InstanceNormalization IsInf IsNaN LayerNormalization LeakyRelu Log LogSoftmax LpNormalization LRN" +
  " MeanVarianceNormalization Mish Neg Not PRelu QuantizeLinear Reciprocal Relu ReverseSequence RMSNormalization Round" +
  " Scatter ScatterElements ScatterND Selu Shrink Sigmoid Sign Sin Sinh Softmax Softplus Softsign Sqrt Swish Tan Tanh" +
  " TensorScatter ThresholdedRelu Trilu";

/** Rules of operators whose outputs are about as large as their inputs. Others are in `growing-shape-rules.ts`. */
export const SHAPE_RULES: ReadonlyMap<string, ShapeRule> = new Map(
  Object.entries<ShapeRule>({
    ...Object.fromEntries(UNCHANGED.split(" ").map((operator) => [operator, same])),
    ...Object.fromEntries(
      (
        "Add Sub Mul Div Mod Pow Max Min Sum Mean Equal Less LessOrEqual Greater GreaterOrEqual And Or Xor Where BitShift" +
        " BitwiseAnd BitwiseOr BitwiseXor"
      )
        .split(" ")
        .map((each) => [each, together]),
    ),
    ...Object.fromEntries(
      "ReduceMean ReduceSum ReduceMax ReduceMin ReduceProd ReduceL1 ReduceL2 ReduceLogSum ReduceLogSumExp ReduceSumSquare"
        .split(" ")
        .map((each) => [each, reduce]),
    ),
    Conv: convolve,
    MaxPool: pool,
    AveragePool: pool,
    GlobalAveragePool: globalPool,
    GlobalLpPool: globalPool,
    LpPool: pool,
    GatherND: gatherND,
    GlobalMaxPool: globalPool,
    MatMul: multiply,
    Einsum: einsum,
    Gemm: gemm,
    GatherElements: ({ inputs: [, indices] }) => indices && [indices],
    Reshape: reshape,
    Flatten: flatten,
    Transpose: transpose,
    Concat: concatenate,
    GRU: recur(1),
    LSTM: recur(2),
    RNN: recur(1),
    Squeeze: squeeze,
    Unsqueeze: unsqueeze,
    Slice: slice,
    Split: split,
    Gather: gather,
    TopK: topK,
    ArgMax: argReduce,
    ArgMin: argReduce,
    Shape: shapeOfIt,
    Size: () => [[]],
    DepthToSpace: toSpace,
    SpaceToDepth: toSpace,
    DynamicQuantizeLinear: ({ inputs: [input] }) => input && [input, [], []],
    MatMulInteger: multiply,
    ConvInteger: convolve,
    QLinearConv: ({ inputs, ...rest }) => convolve({ ...rest, inputs: [inputs[0], inputs[3]] }),
    QLinearMatMul: ({ inputs, ...rest }) => multiply({ ...rest, inputs: [inputs[0], inputs[3]] }),
  }),
);
