import { inferFacts } from "../../../onnx/infer-shapes.ts";
import { inferTypes } from "../../../onnx/infer-types.ts";
import {
  floatOf,
  intOf,
  intsOf,
  nameOperator,
  type OnnxAttribute,
  type OnnxModel,
  type OnnxNode,
  type OnnxTensor,
} from "../../../onnx/onnx-model.ts";
import type { WGSL_EXPANSIONS } from "../../../onnx/operators.ts";
import type { Shape } from "../../../onnx/shape-rule.ts";
import { floatTensor, integerTensor } from "../../../onnx/tensor-values.ts";
import { unsupported } from "./network-value.ts";

type Attributes = Readonly<Record<string, OnnxAttribute>>;
const int = (value: number): OnnxAttribute => ({ kind: "int", value });
const ints = (value: readonly number[]): OnnxAttribute => ({ kind: "ints", value });
const float = (value: number): OnnxAttribute => ({ kind: "float", value });
const text = (value: string): OnnxAttribute => ({ kind: "string", value });

/** Nodes that stand for one node. Names of its own values begin with a space, which no file's names do. */
class Body {
  readonly nodes: OnnxNode[] = [];
  readonly weights: OnnxTensor[] = [];
  readonly node: OnnxNode;
  readonly #prefix: string;
  readonly #shapes: ReadonlyMap<string, Shape>;
  readonly #bools: ReadonlySet<string>;

  constructor(node: OnnxNode, index: number, shapes: ReadonlyMap<string, Shape>, bools: ReadonlySet<string>) {
    this.node = node;
    this.#prefix = ` ${index}.`;
    this.#shapes = shapes;
    this.#bools = bools;
  }

  /** Name of an input; "" where the node lacks it. */
  input(index: number): string {
    return this.node.inputs[index] ?? "";
  }

  output(index = 0): string {
    return this.node.outputs[index] ?? "";
  }

  /** Shape of an input for one row. */
  shapeOf(index: number): Shape {
    const shape = this.#shapes.get(this.input(index));
    if (shape === undefined) throw unsupported(this.node, "its shape depends on computed values");
    return shape;
  }

  isBool(index: number): boolean {
    return this.#bools.has(this.input(index));
  }

  add(operator: string, inputs: readonly string[], attributes: Attributes = {}, output = this.#name()): string {
    const { name } = this.node;
    const node = { name, operator, domain: "", inputs, outputs: [output], attributes: new Map(Object.entries(attributes)) };
    this.nodes.push(node);
    return output;
  }

  put(tensor: OnnxTensor): string {
    const named = { ...tensor, name: this.#name() };
    this.weights.push(named);
    return named.name;
  }

  number(value: number): string {
    return this.put(floatTensor("", [], Float32Array.of(value)));
  }

  reshape(value: string, sizes: readonly number[], output?: string): string {
    return this.add("Reshape", [value, this.put(integerTensor("", sizes))], {}, output);
  }

  /** New axes of one element. */
  widen(value: string, axes: readonly number[]): string {
    return this.add("Unsqueeze", [value, this.put(integerTensor("", axes))]);
  }

  slice(value: string, axis: number, [start, end, step = 1]: readonly [number, number, number?]): string {
    const numbers = [[start], [end], [axis], [step]].map((each) => this.put(integerTensor("", each)));
    return this.add("Slice", [value, ...numbers]);
  }

  #name(): string {
    return `${this.#prefix}${this.nodes.length}.${this.weights.length}`;
  }
}

/** Batch × length × heads times size as batch × heads × length × size. */
function splitHeads(body: Body, value: string, heads: number): string {
  return body.add("Transpose", [body.reshape(value, [0, 0, heads, -1])], { perm: ints([0, 2, 1, 3]) });
}

function joinHeads(body: Body, value: string, output: string): void {
  body.reshape(body.add("Transpose", [value], { perm: ints([0, 2, 1, 3]) }), [0, 0, -1], output);
}

interface Attention {
  /** Batch × heads × length × size each; keys and values may have fewer heads, each for as many heads of queries. */
  readonly query: string;
  readonly key: string;
  readonly value: string;
  readonly heads: number;
  readonly sharedHeads: number;
  /** Number of keys and values, with those of the past. */
  readonly total: number;
  /** Sizes of a query's head and of a value's. */
  readonly sizes: readonly [number, number];
  readonly scale: number;
  /** Adds masks to the products. */
  readonly mask: (scores: string) => string;
  readonly softcap?: number;
  /** Name of the products, and which of them: plain (0), with the masks, or as shares (3). */
  readonly scores?: { readonly output: string; readonly mode: number };
}

/** Softmax of the products of queries and keys, times the values: the pattern as exporters write it. */
function attend(body: Body, { query, key, value, heads, sharedHeads, total, sizes, ...rest }: Attention): string {
  const isGrouped = heads !== sharedHeads;
  const group = (name: string, size: number) =>
    isGrouped ? body.reshape(name, [0, sharedHeads, heads / sharedHeads, -1, size]) : name;
  const shared = (name: string) => (isGrouped ? body.widen(name, [2]) : name);
  const ungroup = (name: string, size: number) => (isGrouped ? body.reshape(name, [0, heads, -1, size]) : name);
  const scaled = body.add("Mul", [query, body.number(rest.scale)]);
  const turned = body.add("Transpose", [key], { perm: ints([0, 1, 3, 2]) });
  const products = body.add("MatMul", [group(scaled, sizes[0]), shared(turned)]);
  const plain = ungroup(products, total);
  const { softcap = 0 } = rest;
  // Before the masks, or their infinities would become numbers.
  const capped = softcap === 0 ? plain : bound(body, plain, softcap);
  const masked = rest.mask(capped);
  const shares = body.add("Softmax", [masked], { axis: int(-1) });
  if (rest.scores !== undefined) {
    const isPlain = rest.scores.mode === 0;
    if (!isPlain && rest.scores.mode < 3 && softcap !== 0) throw unsupported(body.node, "it returns capped products");
    body.add("Identity", [isPlain ? plain : rest.scores.mode < 3 ? masked : shares], {}, rest.scores.output);
  }
  return ungroup(body.add("MatMul", [group(shares, total), shared(value)]), sizes[1]);
}

/** Between -limit and limit. */
function bound(body: Body, value: string, limit: number): string {
  const share = body.add("Tanh", [body.add("Div", [value, body.number(limit)])]);
  return body.add("Mul", [share, body.number(limit)]);
}

/** Products with later elements count as -infinity; the past comes before all queries. */
function maskLater(body: Body, scores: string, length: number, total: number): string {
  const bytes = Uint8Array.from({ length: length * total }, (_, at) =>
    Number((at % total) - (total - length) <= Math.floor(at / total)),
  );
  const mask = body.put({ name: "", dtype: "bool", dims: [length, total], bytes });
  return body.add("Where", [mask, scores, body.number(Number.NEGATIVE_INFINITY)]);
}

/** The same for places of caches that are not in use, where the node names the used lengths by row. */
function maskEmpty(body: Body, scores: string, total: number): string {
  if (body.input(6) === "") return scores;
  const places = body.put(integerTensor("", Array.from({ length: total }, (_, place) => place)));
  const isUsed = body.add("Less", [places, body.widen(body.input(6), [1, 2, 3])]);
  return body.add("Where", [isUsed, scores, body.number(Number.NEGATIVE_INFINITY)]);
}

/** Cache with the new elements behind the past ones, under the name of an output that may be missing. */
function extend(body: Body, past: string, added: string, output: string): string {
  if (past !== "") return body.add("Concat", [past, added], { axis: int(2) }, output === "" ? undefined : output);
  return output === "" ? added : body.add("Identity", [added], {}, output);
}

/** `Attention` of ONNX. */
function expandAttention(body: Body): void {
  const { node } = body;
  const [query, key, value] = [0, 1, 2].map((input) => body.shapeOf(input)) as [Shape, Shape, Shape];
  if (body.input(6) !== "" && intOf(node, "is_causal", 0) !== 0) {
    throw unsupported(node, "it is causal in caches that have lengths");
  }
  const isSplit = query.length === 4;
  const heads = intOf(node, "q_num_heads", query[1]!);
  const sharedHeads = intOf(node, "kv_num_heads", key[1]!);
  const [queries, keys, values] = [heads, sharedHeads, sharedHeads].map((count, input) =>
    isSplit ? body.input(input) : splitHeads(body, body.input(input), count),
  ) as [string, string, string];
  const length = query.at(-2)!;
  const total = key.at(-2)! + (body.input(4) === "" ? 0 : body.shapeOf(4)[2]!);
  const sizes = [
    isSplit ? query[3]! : query[2]! / heads,
    isSplit ? value[3]! : value[2]! / sharedHeads,
  ] as const;
  const mask = (scores: string): string => {
    const isCausal = intOf(node, "is_causal", 0) !== 0;
    const causal = isCausal ? maskLater(body, scores, length, total) : maskEmpty(body, scores, total);
    if (body.input(3) === "") return causal;
    if (!body.isBool(3)) return body.add("Add", [causal, body.input(3)]);
    return body.add("Where", [body.input(3), causal, body.number(Number.NEGATIVE_INFINITY)]);
  };
  const found = attend(body, {
    query: queries,
    key: extend(body, body.input(4), keys, body.output(1)),
    value: extend(body, body.input(5), values, body.output(2)),
    heads,
    sharedHeads,
    total,
    sizes,
    scale: floatOf(node, "scale", 1 / Math.sqrt(sizes[0])),
    mask,
    softcap: floatOf(node, "softcap", 0),
    ...(body.output(3) !== "" && {
      scores: { output: body.output(3), mode: intOf(node, "qk_matmul_output_mode", 0) },
    }),
  });
  if (isSplit) body.add("Identity", [found], {}, body.output());
  else joinHeads(body, found, body.output());
}

/** A mask of whole numbers, 0 where nothing is to be seen, by batch and key, and by query if it has three axes. */
function maskBy(body: Body, scores: string, input: number): string {
  if (body.input(input) === "") return scores;
  const rank = body.shapeOf(input).length;
  if (rank !== 2 && rank !== 3) throw unsupported(body.node, `its mask has ${rank} axes`);
  const hidden = body.add("Not", [body.input(input)]);
  const filler = body.number(floatOf(body.node, "mask_filter_value", -10_000));
  const added = body.widen(body.add("Mul", [hidden, filler]), rank === 2 ? [1, 2] : [1]);
  return body.add("Add", [scores, added]);
}

/** `MultiHeadAttention` of com.microsoft, with queries, keys and values by themselves. */
function expandMultiHead(body: Body): void {
  const { node } = body;
  const heads = intOf(node, "num_heads", 1);
  if (body.input(1) === "" || body.input(2) === "") throw unsupported(node, "its operands are packed");
  const widths = [0, 1, 2].map((input) => {
    const shape = body.shapeOf(input);
    return shape.length === 4 ? heads * shape[3]! : shape[2]!;
  });
  let begun = 0;
  const [query, key, value] = widths.map((width, input) => {
    const from = begun;
    begun += width;
    const name = body.input(input);
    if (body.shapeOf(input).length === 4) return name;
    const bias = body.input(3) === "" ? "" : body.slice(body.input(3), 0, [from, begun]);
    return splitHeads(body, bias === "" ? name : body.add("Add", [name, bias]), heads);
  }) as [string, string, string];
  const length = body.shapeOf(0)[1]!;
  const added = body.shapeOf(1).at(-2)!;
  const total = added + (body.input(6) === "" ? 0 : body.shapeOf(6)[2]!);
  const sizes = [widths[0]! / heads, widths[2]! / heads] as const;
  const found = attend(body, {
    query,
    key: extend(body, body.input(6), key, body.output(1)),
    value: extend(body, body.input(7), value, body.output(2)),
    heads,
    sharedHeads: heads,
    total,
    sizes,
    scale: floatOf(node, "scale", 0) || 1 / Math.sqrt(sizes[0]),
    mask: (scores) => {
      const isCausal = intOf(node, "unidirectional", 0) !== 0;
      const causal = isCausal ? maskLater(body, scores, length, total) : scores;
      const masked = maskBy(body, causal, 4);
      return body.input(5) === "" ? masked : body.add("Add", [masked, body.input(5)]);
    },
  });
  joinHeads(body, found, body.output());
}

/** `Attention` of com.microsoft: the products with the weights of queries, keys and values first. */
function expandProjected(body: Body): void {
  const { node } = body;
  const heads = intOf(node, "num_heads", 1);
  if (body.input(4) !== "" || body.output(1) !== "") throw unsupported(node, "its past is one tensor");
  const third = body.shapeOf(1)[1]! / 3;
  const widths = intsOf(node, "qkv_hidden_sizes") ?? [third, third, third];
  const products = body.add("MatMul", [body.input(0), body.input(1)]);
  const projected = body.input(2) === "" ? products : body.add("Add", [products, body.input(2)]);
  let begun = 0;
  const [query, key, value] = widths.map((width) => {
    begun += width;
    return splitHeads(body, body.slice(projected, 2, [begun - width, begun]), heads);
  }) as [string, string, string];
  const length = body.shapeOf(0)[1]!;
  const sizes = [widths[0]! / heads, widths[2]! / heads] as const;
  const found = attend(body, {
    query,
    key,
    value,
    heads,
    sharedHeads: heads,
    total: length,
    sizes,
    scale: floatOf(node, "scale", 0) || 1 / Math.sqrt(sizes[0]),
    mask: (scores) => {
      const isCausal = intOf(node, "unidirectional", 0) !== 0;
      const masked = maskBy(body, isCausal ? maskLater(body, scores, length, length) : scores, 3);
      return body.input(5) === "" ? masked : body.add("Add", [masked, body.input(5)]);
    },
  });
  joinHeads(body, found, body.output());
}

/** `SkipLayerNormalization` and `SkipSimplifiedLayerNormalization` of com.microsoft: a sum, then its normalisation. */
function expandSkipNorm(body: Body): void {
  const { node } = body;
  if (body.output(1) !== "" || body.output(2) !== "") throw unsupported(node, "it returns statistics");
  const isSimple = node.operator.includes("Simplified");
  const bias = body.input(isSimple ? 3 : 4);
  const sum = body.add("Add", [body.input(0), body.input(1)], {}, bias === "" ? body.output(3) || undefined : undefined);
  const total = bias === "" ? sum : body.add("Add", [sum, bias], {}, body.output(3) || undefined);
  const attributes = { axis: int(-1), epsilon: float(floatOf(node, "epsilon", 1e-12)) };
  const operands = isSimple ? [body.input(2)] : [body.input(2), body.input(3)];
  body.add(isSimple ? "RMSNormalization" : "LayerNormalization", [total, ...operands], attributes, body.output());
}

/** `SimplifiedLayerNormalization`, as ONNX Runtime names `RMSNormalization`. */
function expandSimpleNorm(body: Body): void {
  if (body.output(1) !== "") throw unsupported(body.node, "it returns statistics");
  const attributes = Object.fromEntries(body.node.attributes);
  body.add("RMSNormalization", body.node.inputs, attributes, body.output());
}

function expandGelu(body: Body): void {
  const { operator } = body.node;
  const value = body.input(1) === "" ? body.input(0) : body.add("Add", [body.input(0), body.input(1)]);
  const attributes: Attributes = operator === "FastGelu" ? { approximate: text("tanh") } : {};
  body.add("Gelu", [value], attributes, body.output());
}

/** `QuickGelu` of com.microsoft: x · sigmoid(alpha · x). */
function expandQuickGelu(body: Body): void {
  body.add("Swish", [body.input(0)], { alpha: float(floatOf(body.node, "alpha", 1.702)) }, body.output());
}

function expandProduct(body: Body): void {
  const { node } = body;
  if (intOf(node, "transBatchA", 0) !== 0 || intOf(node, "transBatchB", 0) !== 0) {
    throw unsupported(node, "it turns its batches");
  }
  const [one, other] = ["transA", "transB"].map((name, input) => {
    if (intOf(node, name, 0) === 0) return body.input(input);
    const axes = [...body.shapeOf(input).keys()];
    return body.add("Transpose", [body.input(input)], { perm: ints([...axes.slice(0, -2), axes.at(-1)!, axes.at(-2)!]) });
  }) as [string, string];
  const alpha = floatOf(node, "alpha", 1);
  if (alpha === 1) body.add("MatMul", [one, other], {}, body.output());
  else body.add("Mul", [body.add("MatMul", [one, other]), body.number(alpha)], {}, body.output());
}

/** `RotaryEmbedding` of ONNX and of com.microsoft: pairs of a head's numbers are turned by the angle of their place. */
function expandRotary(body: Body): void {
  const { node } = body;
  const isOwn = node.domain === "";
  const [cosines, sines, places] = isOwn ? [1, 2, 3] : [2, 3, 1];
  const shape = body.shapeOf(0);
  const isSplit = shape.length === 4;
  const cached = body.shapeOf(cosines!).at(-1)!;
  const named = intOf(node, "rotary_embedding_dim", 0);
  const heads = intOf(node, "num_heads", 0) || (isSplit ? shape[1]! : shape[2]! / (2 * cached));
  const size = isSplit ? shape[3]! : shape[2]! / heads;
  const turned = named === 0 ? size : named;
  const value = isSplit ? body.input(0) : body.reshape(body.input(0), [0, 0, heads, size]);
  const isInterleaved = intOf(node, "interleaved", 0) !== 0;
  // Batch × length × half of the numbers, with an axis for the heads.
  const angles = [cosines!, sines!].map((input) => {
    const name = body.input(input);
    const found = body.input(places!) === "" ? name : body.add("Gather", [name, placesOf(body, places!)]);
    return body.widen(found, [isSplit ? -3 : -2]);
  }) as [string, string];
  const [first, second] = isInterleaved
    ? [body.slice(value, 3, [0, turned, 2]), body.slice(value, 3, [1, turned, 2])]
    : [body.slice(value, 3, [0, turned / 2]), body.slice(value, 3, [turned / 2, turned])];
  const product = (one: string, other: string) => body.add("Mul", [one, other]);
  const real = body.add("Sub", [product(first, angles[0]), product(second, angles[1])]);
  const imaginary = body.add("Add", [product(first, angles[1]), product(second, angles[0])]);
  const pairs = isInterleaved
    ? body.reshape(
        body.add("Concat", [real, imaginary].map((each) => body.widen(each, [4])), { axis: int(4) }),
        [0, 0, 0, turned],
      )
    : body.add("Concat", [real, imaginary], { axis: int(3) });
  const rest = turned === size ? [] : [body.slice(value, 3, [turned, size])];
  const joined = rest.length === 0 ? pairs : body.add("Concat", [pairs, ...rest], { axis: int(3) });
  if (isSplit) body.add("Identity", [joined], {}, body.output());
  else body.reshape(joined, [0, 0, -1], body.output());
}

/** Places of the elements; a single one is that of the first. */
function placesOf(body: Body, input: number): string {
  const shape = body.shapeOf(input);
  if (shape.length === 2) return body.input(input);
  const length = body.shapeOf(0).at(-2)!;
  const counted = body.put(integerTensor("", Array.from({ length }, (_, place) => place)));
  return body.add("Add", [counted, body.input(input)]);
}

/** Operators that stand for several others. Sources: onnx.ai/onnx/operators; ONNX Runtime, docs/ContribOperators.md. */
const EXPANSIONS: Readonly<Record<(typeof WGSL_EXPANSIONS)[number], (body: Body) => void>> = {
  Attention: expandAttention,
  RotaryEmbedding: expandRotary,
  SimplifiedLayerNormalization: expandSimpleNorm,
  "com.microsoft.Attention": expandProjected,
  "com.microsoft.BiasGelu": expandGelu,
  "com.microsoft.FastGelu": expandGelu,
  "com.microsoft.FusedMatMul": expandProduct,
  "com.microsoft.Gelu": expandGelu,
  "com.microsoft.MultiHeadAttention": expandMultiHead,
  "com.microsoft.QuickGelu": expandQuickGelu,
  "com.microsoft.RotaryEmbedding": expandRotary,
  "com.microsoft.SkipLayerNormalization": expandSkipNorm,
  "com.microsoft.SkipSimplifiedLayerNormalization": expandSkipNorm,
};

/** Whether a node stands for several. */
export function isExpanded(node: OnnxNode): boolean {
  return Object.hasOwn(EXPANSIONS, nameOperator(node));
}

/** The network with plain operators in the place of those that stand for several. Fails with `invalid-model`. */
export function expandModel(model: OnnxModel): OnnxModel {
  if (!model.nodes.some(isExpanded)) return model;
  const { shapes } = inferFacts(model, 1);
  const bools = new Set([...inferTypes(model)].flatMap(([name, dtype]) => (dtype === "bool" ? [name] : [])));
  const weights = new Map(model.weights);
  const nodes = model.nodes.flatMap((node, index) => {
    if (!isExpanded(node)) return [node];
    const body = new Body(node, index, shapes, bools);
    EXPANSIONS[nameOperator(node) as keyof typeof EXPANSIONS](body);
    for (const tensor of body.weights) weights.set(tensor.name, tensor);
    return body.nodes;
  });
  return { ...model, nodes, weights };
}
