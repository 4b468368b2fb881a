import type { KernelArrays, KernelShape, KernelSpec, KernelVariant } from "../kernel-spec.ts";
import { arithmeticPeak } from "../peaks.ts";
import { seededUniform } from "../seeded-uniform.ts";
import { MAX_GROUPS } from "../webgpu-limits.ts";
import { fmaPeakReference, STEPS_PER_ROUND } from "./fma-peak.reference.ts";

type Size = "n" | "rounds";

/** Values of the widest lane times lanes of the largest group: the grid covers arrays of this multiple exactly. */
const PADDING = 16 * 256;

const createVariant = (name: string, valuesPerLane: number): KernelVariant<Size, "lanes"> => ({
  name,
  file: `${name}.wgsl`,
  axes: [{ name: "lanes", values: [32, 64, 128, 256], default: 64 }],
  passes: [{ entryPoint: "main", workgroups: ({ n }, { lanes }) => [Math.ceil(n / (valuesPerLane * lanes)), 1, 1] }],
});

/** a is a little below 1 and b small beside it: values drift from x to b / (1 − a), both of [-1, 1). */
function generate({ n }: KernelShape<Size>, seed: number): KernelArrays {
  const coefficients = Float32Array.of(1 - 2 ** -10, seededUniform(seed, 1, 1)[0]! * 2 ** -10);
  return { coefficients, x: seededUniform(seed, 0, n) };
}

/** Peak f32 arithmetic: chains of multiply-adds that touch memory once in a long while. */
export const fmaPeak: KernelSpec<Size> = {
  name: "fma-peak",
  description: "Peak arithmetic in f32: x = a·x + b, sixteen times a round",
  folder: new URL(".", import.meta.url),
  dimensions: [
    { name: "n", description: "Independent values", min: 1, max: MAX_GROUPS * 32 * 4, default: 2 ** 18 },
    { name: "rounds", description: "Rounds of sixteen steps", min: 1, max: 4096, default: 32 },
  ],
  dtypes: ["float32"],
  bindings: [
    { name: "coefficients", access: "read", dtype: "float32", extents: () => [2], alignment: [2] },
    { name: "x", access: "read", dtype: "float32", extents: ({ n }) => [n], alignment: [PADDING] },
    { name: "y", access: "write", dtype: "float32", extents: ({ n }) => [n], alignment: [PADDING] },
  ],
  variants: [createVariant("two-vectors", 8), createVariant("one-vector", 4), createVariant("four-vectors", 16)],
  flops: ({ n, rounds }) => 2 * STEPS_PER_ROUND * n * rounds,
  bytes: ({ n }) => 8 * (n + 1),
  peak: arithmeticPeak("float32"),
  tolerance: {
    relative: 0,
    absolute: ({ rounds }) => 2 ** -23 * Math.min(STEPS_PER_ROUND * rounds, 2 ** 10),
    reason:
      "a step may round twice, at most 2⁻²⁴ each of values below 1, and each step shrinks earlier errors by a = 1 − 2⁻¹⁰: at most 2¹⁰ steps' worth",
  },
  generate,
  reference: fmaPeakReference,
};
