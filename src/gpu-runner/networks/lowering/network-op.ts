/** Fields of an operator in the kernels, in the order of `Op` in kernels/network/network.wgsl. */
const FIELDS = [
  "kind run items input output other otherIsConstant weights weightType bias scales scaleBlock activation alpha beta",
  "quantised step zero low high which channels filters height width outHeight outWidth kernelHeight kernelWidth",
  "strideY strideX dilationY dilationX padY padX rows rank",
  "d0 d1 d2 d3 d4 d5 a0 a1 a2 a3 a4 a5 b0 b1 b2 b3 b4 b5 o0 o1 o2 o3 o4 o5 arena",
]
  .join(" ")
  .split(" ");
const PLACES = new Map(FIELDS.map((field, place) => [field, place]));
const FLOATS = new Set(["alpha", "beta", "step", "zero", "low", "high"]);
/** Fields in which -1 means none, because 0 is a valid offset. */
const NONE = ["other", "weights", "bias", "scales", "d2"];

/** Bytes of one operator in the table; also the alignment of offsets into uniform buffers. */
export const OP_BYTES = 256;
/** Largest number of operators in a dispatch: the length of the table in the kernel. */
export const MAX_RUN = 64;

/** Functions of two elements in kernels/network/map.wgsl and seldom.wgsl that several operators need: `which` of a map. */
export const COPY = 0;
export const ADD = 1;
export const SUBTRACT = 2;
export const MULTIPLY = 3;
export const DIVIDE = 4;
export const POWER = 5;
export const SQUARE = 8;
/** The second operand. */
export const SECOND = 28;
/** The first operand where the second is not 0; elsewhere the output stays. */
export const COPY_WHERE = 29;

/** Kinds of `Op`. */
export const KIND = {
  load: 0,
  store: 1,
  map: 2,
  convolve: 3,
  convolveEach: 4,
  dense: 5,
  pool: 6,
  reduce: 7,
  softmax: 8,
  gru: 9,
  lstm: 10,
  product: 11,
  reduceSeldom: 12,
  normalise: 13,
  cumulate: 14,
  scatter: 15,
  select: 16,
  convolveFar: 17,
} as const;
export type Kind = keyof typeof KIND;

/** Numbers of an operator by the fields of the kernels' `Op`; absent ones are 0 or none. */
export type OpNumbers = Readonly<Record<string, number>>;

/** Writes an operator into its 256 bytes of a table. */
export function writeOp(table: DataView, offset: number, numbers: OpNumbers): void {
  for (const field of NONE) table.setInt32(offset + 4 * PLACES.get(field)!, -1, true);
  for (const [field, value] of Object.entries(numbers)) {
    const place = PLACES.get(field);
    if (place === undefined) throw new TypeError(`operators have no field ${field}`);
    if (FLOATS.has(field)) table.setFloat32(offset + 4 * place, value, true);
    else table.setInt32(offset + 4 * place, value, true);
  }
}

/** Number of axes that a kernel can walk. */
const AXES = 6;

/** Axis of a walk: its size, and the strides of the operands a and b and of the output along it. */
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

/** Strides of a tensor that is broadcast to a larger shape: 0 along missing axes. */
export function broadcastStrides(shape: readonly number[], into: readonly number[]): number[] {
  const own = stridesOf(shape);
  const missing = into.length - shape.length;
  return into.map((_, axis) => (axis < missing || shape[axis - missing] === 1 ? 0 : own[axis - missing]!));
}

/** Fields of a walk over axes, with joinable axes joined; null where more remain than kernels support. */
export function walkOver(axes: readonly WalkedAxis[]): OpNumbers | null {
  const joined = joinWalked(axes);
  if (joined.length > AXES) return null;
  return writeWalk(joined, Math.max(1, joined.length));
}

/** The same walk with as few axes as possible. */
export function joinWalked(axes: readonly WalkedAxis[]): WalkedAxis[] {
  const joined: WalkedAxis[] = [];
  for (const axis of axes) {
    if (axis.size === 1) continue;
    const last = joined.at(-1);
    if (last !== undefined && (["a", "b", "out"] as const).every((key) => last[key] === axis[key] * axis.size)) {
      joined[joined.length - 1] = { ...axis, size: last.size * axis.size };
    } else joined.push(axis);
  }
  return joined;
}

/** Fields of a walk over lines along the last axis; null where the lines lie along more axes than kernels support. */
export function walkLines(outer: readonly WalkedAxis[], line: WalkedAxis): OpNumbers | null {
  const joined = joinWalked(outer);
  return joined.length < AXES ? writeWalk([...joined, line]) : null;
}

/** Fields of a walk over axes without joining; the last axis stays last. */
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
