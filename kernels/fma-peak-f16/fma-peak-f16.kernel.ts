import { fmaPeakReference, STEPS_PER_ROUND } from "../fma-peak/fma-peak.reference.ts";
import type { KernelArrays, KernelShape, KernelSpec, KernelVariant } from "../kernel-spec.ts";
import { arithmeticPeak } from "../peaks.ts";
import { seededUniform } from "../seeded-uniform.ts";
import { MAX_GROUPS } from "../webgpu-limits.ts";

type Size = "n" | "rounds";

/** Values of the widest lane times lanes of the largest group: the grid covers arrays of this multiple exactly. */
const PADDING = 16 * 256;

const createVariant = (name: string, valuesPerLane: number): KernelVariant<Size, "lanes"> => ({
  name,
  file: `${name}.wgsl`,
  axes: [{ name: "lanes", values: [32, 64, 128, 256], default: 64 }],
  passes: [{ entryPoint: "main", workgroups: ({ n }, { lanes }) => [Math.ceil(n / (valuesPerLane * lanes)), 1, 1] }],
});

/** a is far enough below 1 that errors die away, which f16 makes large. */
function generate({ n }: KernelShape<Size>, seed: number): KernelArrays {
  const coefficients = Float32Array.of(0.75, Math.f16round(seededUniform(seed, 1, 1)[0]! * 0.25));
  return { coefficients, x: seededUniform(seed, 0, n).map(Math.f16round) };
}

/** Peak f16 arithmetic, on devices that have it; values are f32 in memory, which is touched once in a long while. */
export const fmaPeakF16: KernelSpec<Size> = {
  name: "fma-peak-f16",
  description: "Peak arithmetic in f16: x = a·x + b, sixteen times a round",
  folder: new URL(".", import.meta.url),
  dimensions: [
    { name: "n", description: "Independent values", min: 1, max: MAX_GROUPS * 32 * 8, default: 2 ** 18 },
    { name: "rounds", description: "Rounds of sixteen steps", min: 1, max: 4096, default: 32 },
  ],
  dtypes: ["float16"],
  features: ["shader-f16"],
  bindings: [
    { name: "coefficients", access: "read", dtype: "float32", extents: () => [2], alignment: [2] },
    { name: "x", access: "read", dtype: "float32", extents: ({ n }) => [n], alignment: [PADDING] },
    { name: "y", access: "write", dtype: "float32", extents: ({ n }) => [n], alignment: [PADDING] },
  ],
  variants: [createVariant("two-vectors", 8), createVariant("four-vectors", 16)],
  flops: ({ n, rounds }) => 2 * STEPS_PER_ROUND * n * rounds,
  bytes: ({ n }) => 8 * (n + 1),
  peak: arithmeticPeak("float16"),
  tolerance: {
    relative: 0,
    absolute: () => 2 ** -8,
    reason:
      "a step may round twice, at most 2⁻¹² each of values below 1, and each step shrinks earlier errors by a = 3/4: four steps' worth, doubled",
  },
  generate,
  reference: fmaPeakReference,
};
