import { countElements, floatOf, intOf, type OnnxNode, textOf } from "../../../onnx/onnx-model.ts";
import { readEinsum } from "../../../onnx/shape-rule.ts";
import { emitMap } from "./lower-elementwise.ts";
import { emitWalk } from "./lower-movement.ts";
import type { Lowering } from "./lowering.ts";
import { broadcastStrides, stridesOf, walkOver, type WalkedAxis, writeWalk } from "./network-op.ts";
import { type Activation, unsupported, scalar } from "./network-value.ts";

/** `MatMul` of two activations; axes before the last two are matrices, those of one element being repeated. */
export function emitMatMul(lowering: Lowering, node: OnnxNode): void {
  const [one, other] = [lowering.activationOf(node, 0), lowering.activationOf(node, 1)];
  // A list is a row on the left and a column on the right.
  const left = one.shape.length === 1 ? [1, ...one.shape] : one.shape;
  const right = other.shape.length === 1 ? [...other.shape, 1] : other.shape;
  const rank = Math.max(left.length, right.length);
  const [rows, depth, columns] = [left.at(-2)!, left.at(-1)!, right.at(-1)!];
  if (one.rowAxis === one.shape.length - 1 || other.rowAxis === Math.max(0, other.shape.length - 2)) {
    throw unsupported(node, "it mixes rows");
  }
  const outer = Array.from({ length: rank - 2 }, (_, axis) =>
    Math.max(left[axis - rank + left.length] ?? 1, right[axis - rank + right.length] ?? 1),
  );
  const output = lowering.reserve(node);
  const [a, b] = [broadcastStrides(left, [...outer, rows, depth]), broadcastStrides(right, [...outer, depth, columns])];
  const out = stridesOf([...outer, rows, columns]);
  const matrices = outer.map((size, axis) => ({ size, a: a[axis]!, b: b[axis]!, out: out[axis]! }));
  emitProduct(lowering, node, { one, other, output }, [
    ...matrices,
    { size: rows, a: rows === 1 ? 0 : depth, b: 0, out: columns },
    { size: columns, a: 0, b: 1, out: 1 },
    { size: depth, a: 1, b: columns, out: 0 },
  ]);
}

/** `Gemm` of two activations. */
export function emitGemm(lowering: Lowering, node: OnnxNode): void {
  const [one, other] = [lowering.activationOf(node, 0), lowering.activationOf(node, 1)];
  const [turnsOne, turnsOther] = ["transA", "transB"].map((name) => intOf(node, name, 0) !== 0);
  const output = lowering.reserve(node);
  const [rows, columns] = output.shape as [number, number];
  const depth = countElements(one.shape) / rows;
  if (one.rowAxis === (turnsOne ? 0 : 1) || other.rowAxis === (turnsOther ? 1 : 0)) {
    throw unsupported(node, "it mixes rows");
  }
  emitProduct(lowering, node, { one, other, output }, [
    { size: rows, a: turnsOne ? 1 : depth, b: 0, out: columns },
    { size: columns, a: 0, b: turnsOther ? depth : 1, out: 1 },
    { size: depth, a: turnsOne ? rows : 1, b: turnsOther ? 1 : columns, out: 0 },
  ]);
  const product = { ...output };
  const [alpha, beta] = [floatOf(node, "alpha", 1), floatOf(node, "beta", 1)];
  if (alpha !== 1) emitMap(lowering, node, product, { which: 3 }, scalar(alpha), output);
  if (!node.inputs[2]) return;
  const summand = lowering.activationOf(node, 2);
  const scaled: Activation = { ...summand, region: { words: countElements(summand.shape) }, offset: 0 };
  if (beta !== 1) emitMap(lowering, node, summand, { which: 3 }, scalar(beta), scaled);
  emitMap(lowering, node, output, { which: 1 }, beta === 1 ? summand : scaled, output);
}

interface Operands {
  readonly one: Activation;
  readonly other: Activation;
  readonly output: Activation;
}

/** Axes of a product: matrices, then rows, columns and the inner axis. */
function emitProduct(
  lowering: Lowering,
  node: OnnxNode,
  { one, other, output }: Operands,
  axes: readonly WalkedAxis[],
): void {
  const inner = axes.slice(-3);
  const [rows, columns, depth] = inner.map(({ size }) => size) as [number, number, number];
  const matrices = joinMatrices(axes.slice(0, -3));
  if (matrices.length > 3) throw unsupported(node, "its matrices lie along too many axes");
  const count = matrices.reduce((product, { size }) => product * size, 1);
  const items = count * Math.ceil(rows / 4) * Math.ceil(columns / 4);
  const numbers = { ...writeWalk([...matrices, ...inner]), items };
  const work = count * rows * columns * depth;
  lowering.emit(node, { kind: "product", numbers, input: one, factor: other, work }, output);
}

function joinMatrices(axes: readonly WalkedAxis[]): WalkedAxis[] {
  const joined: WalkedAxis[] = [];
  for (const axis of axes) {
    if (axis.size === 1) continue;
    const last = joined.at(-1);
    const fits = last !== undefined && (["a", "b", "out"] as const).every((key) => last[key] === axis[key] * axis.size);
    if (fits) joined[joined.length - 1] = { ...axis, size: last.size * axis.size };
    else joined.push(axis);
  }
  return joined;
}

/** Axis of an Einsum by its letter. */
interface Letter extends Omit<WalkedAxis, "out"> {
  readonly letter: string;
}

/**
 * `Einsum` of two operands as a product: letters of both and of the output count matrices, those that only one operand
 * shares with the output its rows or columns, and the others are summed. One operand is multiplied by 1.
 */
export function lowerEinsum(lowering: Lowering, node: OnnxNode): void {
  const operands = node.inputs.map((_, input) => lowering.activationOf(node, input));
  const read = readEinsum(
    node,
    operands.map(({ shape }) => shape.length),
  );
  if (read === undefined || operands.length > 2) {
    throw unsupported(node, `'${textOf(node, "equation", "")}' is more than a product of two`);
  }
  const { terms, output: wanted } = read;
  const one: Activation = operands[0]!;
  const other: Activation = operands[1] ?? lowering.inArena(scalar(1));
  const letters = lettersOf(terms, operands);
  const output = lowering.reserve(node);
  for (const [index, operand] of operands.entries()) {
    if (operand.rowAxis >= 0 && !wanted.includes(terms[index]![operand.rowAxis]!)) {
      throw unsupported(node, "it mixes rows");
    }
  }
  const kept = letters.filter(({ letter }) => wanted.includes(letter));
  const summed = letters.filter(({ letter }) => !wanted.includes(letter));
  const columns = kept.findLast(({ a, b }) => a === 0 && b !== 0);
  const rows = kept.findLast(({ a, b }) => b === 0 && a !== 0);
  const order = [...kept.filter((each) => each !== rows && each !== columns), rows, columns].filter(
    (each) => each !== undefined,
  );
  const strides = stridesOf(order.map(({ size }) => size));
  const none = { size: 1, a: 0, b: 0, out: 1 };
  const axisOf = (each: Letter | undefined): WalkedAxis =>
    each === undefined ? none : { size: each.size, a: each.a, b: each.b, out: strides[order.indexOf(each)]! };
  const inner = walkSummed(node, summed);
  const apart: Activation = { ...output, region: { words: countElements(output.shape) }, offset: 0 };
  const matrices = order.filter((each) => each !== rows && each !== columns).map(axisOf);
  emitProduct(lowering, node, { one, other, output: apart }, [...matrices, axisOf(rows), axisOf(columns), inner]);
  const outStrides = stridesOf(output.shape);
  const axes = order.map((each, at) => ({
    size: each.size,
    a: strides[at]!,
    b: 0,
    out: outStrides[wanted.indexOf(each.letter)]!,
  }));
  if (order.every(({ letter }, at) => letter === wanted[at])) return;
  if (walkOver(axes) === null) throw unsupported(node, "its output has too many axes");
  emitWalk(lowering, node, apart, axes, output);
}

function lettersOf(terms: readonly string[], operands: readonly Activation[]): Letter[] {
  const found = new Map<string, Letter>();
  for (const [index, term] of terms.entries()) {
    const { shape } = operands[index]!;
    const strides = stridesOf(shape);
    for (const [axis, letter] of term.split("").entries()) {
      const known = found.get(letter) ?? { letter, size: 1, a: 0, b: 0 };
      const size = Math.max(known.size, shape[axis]!);
      // A letter twice in a term is a diagonal; an axis of one element is repeated.
      const stride = shape[axis] === 1 ? 0 : strides[axis]!;
      found.set(letter, { ...known, size, ...(index === 0 ? { a: known.a + stride } : { b: known.b + stride }) });
    }
  }
  return [...found.values()];
}

/** Axes that are summed as one. */
function walkSummed(node: OnnxNode, letters: readonly Letter[]): WalkedAxis {
  const [joined, ...more] = joinMatrices(letters.map(({ size, a, b }) => ({ size, a, b, out: 0 })));
  if (more.length > 0) throw unsupported(node, "its sums do not lie together");
  return joined ?? { size: 1, a: 0, b: 0, out: 0 };
}
