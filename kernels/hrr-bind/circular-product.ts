import { generateVectors, pairsDimension, vectorDimension } from "./hrr-vectors.ts";
import type { KernelArrays, KernelShape, KernelSpec, KernelVariant } from "../kernel-spec.ts";
import { coverItems } from "../webgpu-limits.ts";
import { type CircularSize, circularReference } from "./circular.reference.ts";

type Shape = KernelShape<CircularSize>;

/** Factors of columns-and-rows: d = columns · spread · 16. */
const FACTORS: ReadonlyMap<number, { readonly columns: number; readonly spread: number }> = new Map([
  [256, { columns: 16, spread: 1 }],
  [512, { columns: 32, spread: 1 }],
  [1024, { columns: 16, spread: 4 }],
  [2048, { columns: 32, spread: 4 }],
  [4096, { columns: 16, spread: 16 }],
  [8192, { columns: 32, spread: 16 }],
]);

const isPowerOfTwo = (value: number) => (value & (value - 1)) === 0;
const takesColumns = ({ dimension }: Shape) => FACTORS.has(dimension);
const takesWorkgroup = ({ dimension }: Shape) => dimension >= 4 && isPowerOfTwo(dimension);

/** exp(−2πi·t/d) for t < d, real and imaginary part in turn, rounded from f64: WGSL's own sine is off by 2⁻¹¹. */
function computeRoots(dimension: number): Float32Array<ArrayBuffer> {
  const roots = new Float32Array(2 * dimension);
  for (let t = 0; t < dimension; t++) {
    roots[2 * t] = Math.cos((2 * Math.PI * t) / dimension);
    roots[2 * t + 1] = -Math.sin((2 * Math.PI * t) / dimension);
  }
  return roots;
}

/** Complex numbers of a pair that wait between the passes: both transforms, half of their bins and the middle one. */
function countKept({ dimension }: Shape): number {
  const { columns } = FACTORS.get(dimension) ?? { columns: dimension };
  return 2 * (columns / 2 + 1) * (dimension / columns);
}

function createVariants(conjugate: 1 | -1): KernelSpec<CircularSize>["variants"] {
  const items = (shape: Shape, each: number, { lanes }: { readonly lanes: number }) =>
    coverItems(shape.pairs * each, lanes);
  const factor = ({ dimension }: Shape) => FACTORS.get(dimension) ?? { columns: 16, spread: 1 };
  const countColumns = (shape: Shape) => shape.dimension / factor(shape).columns / 2;
  const countRows = (shape: Shape) => (factor(shape).columns / 2 + 1) * factor(shape).spread;
  const countSpread = (shape: Shape) => (factor(shape).spread === 1 ? 0 : countRows(shape));

  /** Best on software devices: no barrier, and each number passes through memory once for four or five halvings. */
  const columnsAndRows: KernelVariant<CircularSize, "lanes"> = {
    name: "columns-and-rows",
    file: "columns-and-rows.wgsl",
    takes: takesColumns,
    axes: [{ name: "lanes", values: [16, 64], default: 16 }],
    constants: (shape) => ({ ...factor(shape), conjugate }),
    passes: [
      { entryPoint: "transformColumns", workgroups: (shape, axes) => items(shape, 2 * countColumns(shape), axes) },
      { entryPoint: "spreadRows", workgroups: (shape, axes) => items(shape, 2 * countSpread(shape), axes) },
      { entryPoint: "multiplyRows", workgroups: (shape, axes) => items(shape, countRows(shape), axes) },
      { entryPoint: "gatherRows", workgroups: (shape, axes) => items(shape, countSpread(shape), axes) },
      { entryPoint: "restoreColumns", workgroups: (shape, axes) => items(shape, countColumns(shape), axes) },
    ],
  };

  /** For GPUs, where workgroup memory and barriers are cheap: everything between input and output stays on the chip. */
  const inWorkgroup: KernelVariant<CircularSize, "lanes"> = {
    name: "in-workgroup",
    file: "in-workgroup.wgsl",
    takes: takesWorkgroup,
    axes: [{ name: "lanes", values: [4, 64, 256], default: 256 }],
    constants: ({ dimension }) => ({ half: dimension / 2, conjugate }),
    passes: [{ entryPoint: "main", workgroups: ({ pairs }) => [pairs, 1, 1] }],
  };

  /** Of order d², for every d. */
  const direct: KernelVariant<CircularSize, "lanes"> = {
    name: "direct",
    file: "direct.wgsl",
    axes: [{ name: "lanes", values: [4, 16, 64], default: 16 }],
    constants: () => ({ conjugate }),
    passes: [{ entryPoint: "main", workgroups: (shape, axes) => items(shape, Math.ceil(shape.dimension / 8), axes) }],
  };
  return [columnsAndRows, inWorkgroup, direct];
}

/** Binding and unbinding differ by a conjugate. */
export function createCircularProduct(
  about: Pick<KernelSpec, "name" | "description"> & {
    readonly inputs: readonly [first: string, second: string];
    readonly output: string;
    readonly conjugate: 1 | -1;
  },
): KernelSpec<CircularSize> {
  const { name, description, inputs, output, conjugate } = about;
  const vectors = (binding: string, access: "read" | "write") =>
    ({
      name: binding,
      access,
      dtype: "float32",
      extents: ({ pairs, dimension }: Shape) => [pairs, dimension],
      alignment: [1, 1],
    }) as const;
  return {
    name,
    description,
    folder: new URL(".", import.meta.url),
    dimensions: [pairsDimension, vectorDimension],
    batchDimension: "pairs",
    dtypes: ["float32"],
    bindings: [
      vectors(inputs[0], "read"),
      vectors(inputs[1], "read"),
      {
        name: "roots",
        access: "read",
        dtype: "float32",
        extents: ({ dimension }) => [dimension, 2],
        alignment: [1, 1],
      },
      {
        name: "spectra",
        access: "scratch",
        dtype: "float32",
        extents: (shape) => [shape.pairs, countKept(shape), 2],
        alignment: [1, 1, 1],
      },
      vectors(output, "write"),
    ],
    variants: createVariants(conjugate),
    splitBy: "pairs",
    preferVariant: (shape) => (takesColumns(shape) ? "columns-and-rows" : "direct"),
    // Three fast real transforms of 2.5·d·log₂ d each, and the products of their bins.
    flops: ({ pairs, dimension }) => pairs * (7.5 * dimension * Math.log2(dimension) + 3 * dimension),
    bytes: ({ pairs, dimension }) => 12 * pairs * dimension,
    tolerance: {
      relative: 0,
      absolute: ({ dimension }) => (8 * (8 + Math.sqrt(dimension / 64)) * 2 ** -24) / Math.sqrt(dimension),
      reason:
        "direct sums in blocks of 64 of products of size 1/d, λ·(√64 + √(d/64))·u with λ = 8 of a result of size 1/√d (Higham and Mary, SIAM J. Sci. Comput. 2019); a fast transform's error, of order u·log₂ d of the result's norm, is below that (Higham, Accuracy and Stability of Numerical Algorithms, ch. 24)",
    },
    generate: ({ pairs, dimension }, seed): KernelArrays => ({
      [inputs[0]]: generateVectors(seed, 0, pairs, dimension),
      [inputs[1]]: generateVectors(seed, 1, pairs, dimension),
      roots: computeRoots(dimension),
    }),
    reference: (arrays, shape) => circularReference(arrays[inputs[0]]!, arrays[inputs[1]]!, output, conjugate, shape),
  };
}
