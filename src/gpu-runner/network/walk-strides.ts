import type { OpNumbers } from "./network-op.ts";

/** Axes that a kernel walks through. */
const AXES = 6;

/** An axis: its size, and by how many elements the operands a and b and the output move along it. */
export interface WalkedAxis {
  readonly size: number;
  readonly a: number;
  readonly b: number;
  readonly out: number;
}

/** Strides of a dense tensor. */
export function stridesOf(shape: readonly number[]): number[] {
  const strides = shape.map(() => 1);
  for (let axis = shape.length - 2; axis >= 0; axis--) strides[axis] = strides[axis + 1]! * shape[axis + 1]!;
  return strides;
}

/** Strides of a tensor that is repeated to fill a larger shape: 0 along the axes that it lacks. */
export function broadcastStrides(shape: readonly number[], into: readonly number[]): number[] {
  const own = stridesOf(shape);
  const missing = into.length - shape.length;
  return into.map((_, axis) => (axis < missing || shape[axis - missing] === 1 ? 0 : own[axis - missing]!));
}

/** A walk as an operator's fields, axes that move as one being joined; null where they are more than kernels know. */
export function walkOver(axes: readonly WalkedAxis[]): OpNumbers | null {
  const joined: WalkedAxis[] = [];
  for (const axis of axes) {
    if (axis.size === 1) continue;
    const last = joined.at(-1);
    if (last !== undefined && (["a", "b", "out"] as const).every((key) => last[key] === axis[key] * axis.size)) {
      joined[joined.length - 1] = { ...axis, size: last.size * axis.size };
    } else joined.push(axis);
  }
  if (joined.length > AXES) return null;
  return writeWalk(joined, Math.max(1, joined.length));
}

/** Axes as they are, the last one last. */
export function writeWalk(axes: readonly WalkedAxis[], rank = axes.length): OpNumbers {
  const padded = [...Array.from({ length: AXES - axes.length }, () => ({ size: 1, a: 0, b: 0, out: 0 })), ...axes];
  const fields = padded.flatMap(({ size, a, b, out }, axis) => [
    [`d${axis}`, size],
    [`a${axis}`, a],
    [`b${axis}`, b],
    [`o${axis}`, out],
  ]);
  return { ...Object.fromEntries(fields), rank };
}
