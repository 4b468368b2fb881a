import { countElements, intOf, intsOf, type OnnxNode } from "./onnx-model.ts";
import { type Shape, sliceOf } from "./shape-rule.ts";
import { floatsOf, integersOf } from "./tensor-values.ts";

/** A few numbers that are known without computing on data, row by row. */
export interface KnownNumbers {
  readonly values: readonly number[];
  /** Whole numbers divide without a rest. */
  readonly isWhole: boolean;
}

/** Numbers of one value that are kept track of; a shape has at most some tens. */
export const MOST_KNOWN = 64;

type Inputs = readonly (KnownNumbers | undefined)[];
type Fold = (node: OnnxNode, inputs: Inputs, shapes: readonly (Shape | undefined)[]) => KnownNumbers | undefined;

/**
 * Output of a node that computes only with shapes and numbers of the file, as exporters write their knowledge of free
 * dimensions; undefined for all other nodes, and where there are too many numbers.
 */
export function foldNumbers(
  node: OnnxNode,
  inputs: Inputs,
  shapes: readonly (Shape | undefined)[],
): KnownNumbers | undefined {
  const found = FOLDS.get(node.operator)?.(node, inputs, shapes);
  return found !== undefined && found.values.length <= MOST_KNOWN ? found : undefined;
}

const kept: Fold = (_, [input]) => input;

const each =
  (compute: (value: number) => number): Fold =>
  (_, [input]) =>
    input && { ...input, values: input.values.map(compute) };

/** Pairs one number with many, or lists of equal length. */
const pairwise =
  (compute: (a: number, b: number) => number): Fold =>
  (_, [one, other]) => {
    if (!one || !other) return undefined;
    const length = Math.max(one.values.length, other.values.length);
    if ([one, other].some(({ values }) => values.length !== 1 && values.length !== length)) return undefined;
    const isWhole = one.isWhole && other.isWhole;
    const at = ({ values }: KnownNumbers, index: number) => values[values.length === 1 ? 0 : index]!;
    const values = Array.from({ length }, (_each, index) => {
      const value = compute(at(one, index), at(other, index));
      return isWhole ? Math.trunc(value) : value;
    });
    return { values, isWhole };
  };

const shapeOf: Fold = (node, _, [shape]) => {
  if (!shape) return undefined;
  const { start, length } = sliceOf(shape.length, intOf(node, "start", 0), intOf(node, "end", shape.length), 1);
  return { values: shape.slice(start, start + length), isWhole: true };
};

const sizeOf: Fold = (_, _inputs, [shape]) => shape && { values: [countElements(shape)], isWhole: true };

const gather: Fold = (node, [input, indices], [shape]) => {
  if (!input || !indices || shape?.length !== 1 || intOf(node, "axis", 0) !== 0) return undefined;
  const values = indices.values.map((index) => input.values.at(index));
  return values.every((value) => value !== undefined) ? { ...input, values } : undefined;
};

const concatenate: Fold = (_, inputs, shapes) => {
  const parts = inputs.filter((input) => input !== undefined);
  if (parts.length < inputs.length || shapes.some((shape) => shape?.length !== 1)) return undefined;
  const count = parts.reduce((sum, { values }) => sum + values.length, 0);
  if (count > MOST_KNOWN) return undefined;
  return { values: parts.flatMap(({ values }) => values), isWhole: parts.every(({ isWhole }) => isWhole) };
};

const slice: Fold = (node, [input, starts, ends, , steps], [shape]) => {
  const from = intsOf(node, "starts") ?? starts?.values;
  const to = intsOf(node, "ends") ?? ends?.values;
  if (!input || from?.length !== 1 || to?.length !== 1 || shape?.length !== 1) return undefined;
  const step = steps?.values[0] ?? 1;
  const { start, length } = sliceOf(input.values.length, from[0]!, to[0]!, step);
  if (!(length <= MOST_KNOWN)) return undefined;
  return { ...input, values: Array.from({ length }, (_, index) => input.values[start + index * step]!) };
};

const product: Fold = (_, [input, axes]) =>
  input && (axes === undefined || axes.values.length === 1)
    ? { ...input, values: [countElements(input.values)] }
    : undefined;

/** Casts to whole numbers, except for the float types of TensorProto.DataType. */
const cast: Fold = (node, [input]) => {
  const isWhole = ![1, 10, 11, 16].includes(intOf(node, "to", 0));
  return input && { isWhole, values: isWhole ? input.values.map(Math.trunc) : input.values };
};

/** 1 for true and 0 for false. */
const test = (holds: (a: number, b: number) => boolean): Fold => pairwise((a, b) => Number(holds(a, b)));

const fill: Fold = (node, [shape]) => {
  const length = shape && countElements(shape.values);
  if (length === undefined || !(length <= MOST_KNOWN)) return undefined;
  const value = node.attributes.get("value");
  const tensor = value?.kind === "tensor" ? value.value : undefined;
  if (tensor?.isLeftOut) return undefined;
  const isWhole = tensor !== undefined && !tensor.dtype.startsWith("float");
  const [number] = tensor === undefined ? [0] : isWhole ? integersOf(tensor) : floatsOf(tensor);
  return { values: Array.from({ length }, () => number!), isWhole };
};

const range: Fold = (_, [start, limit, step]) => {
  const numbers = [start, limit, step].map((known) => (known?.values.length === 1 ? known.values[0]! : Number.NaN));
  const [from, to, by] = numbers as [number, number, number];
  const length = Math.max(0, Math.ceil((to - from) / by));
  if (!(length <= MOST_KNOWN)) return undefined;
  const isWhole = [start, limit, step].every((known) => known!.isWhole);
  return { values: Array.from({ length }, (_each, index) => from + index * by), isWhole };
};

const where: Fold = (_, [condition, then, otherwise]) => {
  if (!condition || !then || !otherwise) return undefined;
  const sizes = [condition, then, otherwise].map(({ values }) => values.length);
  const length = Math.max(...sizes);
  if (sizes.some((size) => size !== 1 && size !== length)) return undefined;
  const at = ({ values }: KnownNumbers, index: number) => values[values.length === 1 ? 0 : index]!;
  const values = Array.from({ length }, (_each, index) => at(at(condition, index) === 0 ? otherwise : then, index));
  return { values, isWhole: then.isWhole && otherwise.isWhole };
};

const FOLDS: ReadonlyMap<string, Fold> = new Map(
  Object.entries({
    Identity: kept,
    Squeeze: kept,
    Unsqueeze: kept,
    Reshape: kept,
    Cast: cast,
    Floor: each(Math.floor),
    Ceil: each(Math.ceil),
    Neg: each((value) => -value),
    Add: pairwise((a, b) => a + b),
    Sub: pairwise((a, b) => a - b),
    Mul: pairwise((a, b) => a * b),
    Div: pairwise((a, b) => a / b),
    Max: pairwise(Math.max),
    Min: pairwise(Math.min),
    Shape: shapeOf,
    Size: sizeOf,
    Gather: gather,
    Concat: concatenate,
    Slice: slice,
    ReduceProd: product,
    ConstantOfShape: fill,
    Range: range,
    Where: where,
    Equal: test((a, b) => a === b),
    Greater: test((a, b) => a > b),
    Less: test((a, b) => a < b),
    And: test((a, b) => a !== 0 && b !== 0),
    Or: test((a, b) => a !== 0 || b !== 0),
    Not: each((value) => Number(value === 0)),
    Mod: pairwise((a, b) => a - b * Math.floor(a / b)),
    Abs: each(Math.abs),
    Sqrt: each(Math.sqrt),
  }),
);
