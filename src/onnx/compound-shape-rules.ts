import { intOf, intsOf } from "./onnx-model.ts";
import { along, broadcast, type Shape, type ShapeRule } from "./shape-rule.ts";

const same: ShapeRule = ({ inputs: [input] }) => input && [input];

/** Results of a normalisation of a sum: statistics by line, and the sum itself. */
const skipNorm: ShapeRule = ({ inputs: [input] }) => {
  if (!input?.length) return undefined;
  const lines = input.toSpliced(-1, 1, 1);
  return [input, lines, lines, input];
};

/** Elements of the past and the new ones along the third axis of a cache. */
function grown(past: Shape | undefined, added: Shape): Shape {
  return past === undefined ? added : added.with(2, past[2]! + added[2]!);
}

/** Batch × length × heads times size, or batch × heads × length × size, as the latter. */
function byHeads(shape: Shape, heads: number): Shape {
  if (shape.length === 4) return shape;
  return [shape[0]!, heads, shape[1]!, shape[2]! / heads];
}

/** ONNX's own, since opset 23: the answer, what the caches become, and the products. */
const attention: ShapeRule = ({ node, inputs: [query, key, value, , pastKey, pastValue] }) => {
  if (!query || !key || !value) return undefined;
  const heads = intOf(node, "q_num_heads", query.length === 4 ? query[1]! : Number.NaN);
  const shared = intOf(node, "kv_num_heads", key.length === 4 ? key[1]! : Number.NaN);
  const asked = byHeads(query, heads);
  const [presentKey, presentValue] = [grown(pastKey, byHeads(key, shared)), grown(pastValue, byHeads(value, shared))];
  const [rows, , length] = asked as [number, number, number, number];
  const size = presentValue[3]!;
  const answer = query.length === 4 ? [rows, heads, length, size] : [rows, length, heads * size];
  return [answer, presentKey, presentValue, [rows, heads, length, presentKey[2]!]];
};

const multiHeadAttention: ShapeRule = ({ node, inputs: [query, key, value, , , , pastKey, pastValue] }) => {
  const heads = intOf(node, "num_heads", Number.NaN);
  if (query?.length !== 3 || !key || !value || key.length > 4) return undefined;
  const [added, addedValue] = [byHeads(key, heads), byHeads(value, heads)];
  return [[query[0]!, query[1]!, heads * addedValue[3]!], grown(pastKey, added), grown(pastValue, addedValue)];
};

/** With the weights of queries, keys and values as one matrix. */
const projectedAttention: ShapeRule = ({ node, inputs: [input, weights, , , past] }) => {
  if (input?.length !== 3 || !weights) return undefined;
  const width = intsOf(node, "qkv_hidden_sizes")?.[2] ?? weights[1]! / 3;
  const heads = intOf(node, "num_heads", Number.NaN);
  const before = past?.[3] ?? 0;
  return [
    [input[0]!, input[1]!, width],
    [2, input[0]!, heads, before + input[1]!, width / heads],
  ];
};

const fusedProduct: ShapeRule = ({ node, inputs: [one, other] }) => {
  if (!one || !other || one.length < 2 || other.length < 2) return undefined;
  const [rows, columns] = [
    one.at(intOf(node, "transA", 0) === 0 ? -2 : -1)!,
    other.at(intOf(node, "transB", 0) === 0 ? -1 : -2)!,
  ];
  const outer = one.length >= other.length ? one : other;
  return [[...outer.slice(0, -2), rows, columns]];
};

/** Of two operands, each followed by its scale and zero point. */
const quantisedPair: ShapeRule = ({ inputs: [one, , , other] }) => {
  const shape = one && other && broadcast(one, other);
  return shape && [shape];
};

const quantisedPool: ShapeRule = ({ inputs: [input] }) => input && [input.map((size, axis) => (axis < 2 ? size : 1))];

const quantisedGemm: ShapeRule = ({ node, inputs: [one, , , other] }) => {
  if (!one || !other) return undefined;
  return [[one[intOf(node, "transA", 0) === 0 ? 0 : 1]!, other[intOf(node, "transB", 0) === 0 ? 1 : 0]!]];
};

/** Scale and zero point of the output come first. */
const quantisedParts: ShapeRule = ({ node, inputs }) => {
  const parts = inputs.filter((_, index) => index % 3 === 2);
  const [first] = parts;
  if (!first || parts.some((part) => part?.length !== first.length)) return undefined;
  const axis = along(intOf(node, "axis", 0), first);
  return [
    first.with(
      axis,
      parts.reduce((sum, part) => sum + part![axis]!, 0),
    ),
  ];
};

/** Rules of attention and of operators that optimisers put in the place of several, by domain and name. */
export const COMPOUND_SHAPE_RULES: ReadonlyMap<string, ShapeRule> = new Map(
  Object.entries<ShapeRule>({
    Attention: attention,
    RotaryEmbedding: same,
    SimplifiedLayerNormalization: same,
    "com.microsoft.Attention": projectedAttention,
    "com.microsoft.BiasGelu": same,
    "com.microsoft.FastGelu": same,
    "com.microsoft.FusedMatMul": fusedProduct,
    "com.microsoft.Gelu": same,
    "com.microsoft.MultiHeadAttention": multiHeadAttention,
    "com.microsoft.QGemm": quantisedGemm,
    "com.microsoft.QLinearAdd": quantisedPair,
    "com.microsoft.QLinearConcat": quantisedParts,
    "com.microsoft.QLinearGlobalAveragePool": quantisedPool,
    "com.microsoft.QLinearLeakyRelu": same,
    "com.microsoft.QLinearMul": quantisedPair,
    "com.microsoft.QLinearSigmoid": same,
    "com.microsoft.QuickGelu": same,
    "com.microsoft.RotaryEmbedding": same,
    "com.microsoft.SkipLayerNormalization": skipNorm,
    "com.microsoft.SkipSimplifiedLayerNormalization": skipNorm,
  }),
);
