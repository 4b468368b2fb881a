import type { KernelArrays, KernelShape, KernelSpec, KernelVariant } from "../kernel-spec.ts";
import { arithmeticPeak } from "../peaks.ts";
import { seededWords } from "../seeded-words.ts";
import { MAX_GROUPS } from "../webgpu-limits.ts";
import { dot4PeakReference, STEPS_PER_ROUND } from "./dot4-peak.reference.ts";

type Size = "n" | "rounds";

/** Values of the widest lane times lanes of the largest group: the grid covers arrays of this multiple exactly. */
const PADDING = 8 * 256;

const createVariant = (name: string, valuesPerLane: number): KernelVariant<Size, "lanes"> => ({
  name,
  file: `${name}.wgsl`,
  axes: [{ name: "lanes", values: [32, 64, 128, 256], default: 64 }],
  passes: [{ entryPoint: "main", workgroups: ({ n }, { lanes }) => [Math.ceil(n / (valuesPerLane * lanes)), 1, 1] }],
});

function generate({ n }: KernelShape<Size>, seed: number): KernelArrays {
  // The lowest bit keeps zero out, which would stay zero.
  return { weights: seededWords(seed, 1, 1), x: seededWords(seed, 0, n).map((word) => word | 1) };
}

/** Peak int8 arithmetic: products of four bytes, summed into 32 bits, that touch memory once in a long while. */
export const dot4Peak: KernelSpec<Size> = {
  name: "dot4-peak",
  description: "Peak arithmetic in int8: x = x + dot(bytes of x, w), sixteen times a round",
  folder: new URL(".", import.meta.url),
  dimensions: [
    { name: "n", description: "Independent values", min: 1, max: MAX_GROUPS * 32 * 4, default: 2 ** 18 },
    { name: "rounds", description: "Rounds of sixteen steps", min: 1, max: 4096, default: 32 },
  ],
  dtypes: ["int8"],
  bindings: [
    { name: "weights", access: "read", dtype: "int32", extents: () => [1], alignment: [1] },
    { name: "x", access: "read", dtype: "int32", extents: ({ n }) => [n], alignment: [PADDING] },
    { name: "y", access: "write", dtype: "int32", extents: ({ n }) => [n], alignment: [PADDING] },
  ],
  variants: [createVariant("two-vectors", 8), createVariant("one-vector", 4)],
  // Four products and four sums a step.
  flops: ({ n, rounds }) => 8 * STEPS_PER_ROUND * n * rounds,
  bytes: ({ n }) => 8 * n + 4,
  peak: arithmeticPeak("int8"),
  tolerance: { relative: 0, absolute: () => 0, reason: "integers, which wrap around at 32 bits by definition" },
  generate,
  reference: dot4PeakReference,
};
