import { floatOf, intOf, intsOf } from "../../../onnx/onnx-model.ts";
import type { Shape } from "../../../onnx/shape-rule.ts";
import { integerTensor } from "../../../onnx/tensor-values.ts";
import { type Body, int, ints } from "./body.ts";
import { unsupported } from "./network-value.ts";

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
  const places = body.put(
    integerTensor(
      "",
      Array.from({ length: total }, (_, place) => place),
    ),
  );
  const isUsed = body.add("Less", [places, body.widen(body.input(6), [1, 2, 3])]);
  return body.add("Where", [isUsed, scores, body.number(Number.NEGATIVE_INFINITY)]);
}

/** Cache with the new elements behind the past ones, under the name of an output that may be missing. */
function extend(body: Body, past: string, added: string, output: string): string {
  if (past !== "") return body.add("Concat", [past, added], { axis: int(2) }, output === "" ? undefined : output);
  return output === "" ? added : body.add("Identity", [added], {}, output);
}

/** `Attention` of ONNX. */
export function expandAttention(body: Body): void {
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
  const sizes = [isSplit ? query[3]! : query[2]! / heads, isSplit ? value[3]! : value[2]! / sharedHeads] as const;
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
export function expandMultiHead(body: Body): void {
  const { node } = body;
  const heads = intOf(node, "num_heads", 1);
  if (body.input(1) === "" || body.input(2) === "") throw unsupported(node, "its operands are packed");
  if (body.input(8) !== "") throw unsupported(node, "it has a past_sequence_length");
  if (body.input(9) !== "") throw unsupported(node, "it has a cache_indirection");
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
export function expandProjected(body: Body): void {
  const { node } = body;
  const heads = intOf(node, "num_heads", 1);
  if (body.input(4) !== "" || body.output(1) !== "") throw unsupported(node, "its past is one tensor");
  if (intOf(node, "do_rotary", 0) !== 0) throw unsupported(node, "it does do_rotary");
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

/** `RotaryEmbedding` of ONNX and of com.microsoft: pairs of a head's numbers are turned by the angle of their place. */
export function expandRotary(body: Body): void {
  const { node } = body;
  const isOwn = node.domain === "";
  if (intOf(node, "is_packed_batching", 0) !== 0) throw unsupported(node, "it has is_packed_batching");
  if (floatOf(node, "scale", 1) !== 1) throw unsupported(node, `it has the scale ${floatOf(node, "scale", 1)}`);
  const [cosines, sines, places] = isOwn ? [1, 2, 3] : [2, 3, 1];
  const shape = body.shapeOf(0);
  const isSplit = shape.length === 4;
  const cached = body.shapeOf(cosines).at(-1)!;
  const named = intOf(node, "rotary_embedding_dim", 0);
  const heads = intOf(node, "num_heads", 0) || (isSplit ? shape[1]! : shape[2]! / (2 * cached));
  const size = isSplit ? shape[3]! : shape[2]! / heads;
  const turned = named === 0 ? size : named;
  const value = isSplit ? body.input(0) : body.reshape(body.input(0), [0, 0, heads, size]);
  const isInterleaved = intOf(node, "interleaved", 0) !== 0;
  // Batch × length × half of the numbers, with an axis for the heads.
  const angles = [cosines, sines].map((input) => {
    const name = body.input(input);
    const found = body.input(places) === "" ? name : body.add("Gather", [name, placesOf(body, places)]);
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
        body.add(
          "Concat",
          [real, imaginary].map((each) => body.widen(each, [4])),
          { axis: int(4) },
        ),
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
  const counted = body.put(
    integerTensor(
      "",
      Array.from({ length }, (_, place) => place),
    ),
  );
  return body.add("Add", [counted, body.input(input)]);
}
