/** What the kernels know of an operator, in the order of `Op` in kernels/network/network.wgsl. */
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
/** What stands for "none" is -1 where an offset could be 0. */
const NONE = ["other", "weights", "bias", "scales", "d2"];

/** Bytes of one operator in the table, which is also how offsets of uniform buffers are aligned. */
export const OP_BYTES = 256;
/** Operators of one dispatch at most: the length of the table in the kernel. */
export const MAX_RUN = 64;

/** `Op`'s kinds. */
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
} as const;
export type Kind = keyof typeof KIND;

/** Numbers of an operator by the fields of the kernels' `Op`; what is not named is 0, or none. */
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
