import type { KernelSpec, KernelVariant } from "../kernel-spec.ts";
import { trafficPeak } from "../peaks.ts";
import { seededUniform } from "../seeded-uniform.ts";
import { coverItems, MAX_LENGTH } from "../webgpu-limits.ts";
import { TRIAD_SCALE, triadReference } from "./triad.reference.ts";

const striding: KernelVariant<"n", "lanes"> = {
  name: "grid-stride",
  file: "triad.wgsl",
  axes: [{ name: "lanes", values: [32, 64, 128, 256], default: 256 }],
  constants: () => ({ scale: TRIAD_SCALE }),
  passes: [{ entryPoint: "main", workgroups: ({ n }, { lanes }) => coverItems(n / 4, lanes) }],
};

/** Memory bandwidth, after McCalpin's STREAM triad. */
export const triad: KernelSpec<"n"> = {
  name: "triad",
  description: "Memory bandwidth: a[i] = b[i] + s·c[i]",
  folder: new URL(".", import.meta.url),
  dimensions: [{ name: "n", description: "Elements of each array", min: 1, max: MAX_LENGTH, default: 2 ** 22 }],
  dtypes: ["float32"],
  bindings: [
    { name: "b", access: "read", dtype: "float32", extents: ({ n }) => [n], alignment: [4] },
    { name: "c", access: "read", dtype: "float32", extents: ({ n }) => [n], alignment: [4] },
    { name: "a", access: "write", dtype: "float32", extents: ({ n }) => [n], alignment: [4] },
  ],
  variants: [striding],
  flops: ({ n }) => 2 * n,
  bytes: ({ n }) => 12 * n,
  peak: trafficPeak("triad"),
  tolerance: {
    relative: 2 ** -23,
    absolute: () => 3 * 2 ** -24,
    reason: "at most two roundings in f32: of s·c, which is at most 3, and of the sum",
  },
  generate: ({ n }, seed) => ({ b: seededUniform(seed, 0, n), c: seededUniform(seed, 1, n) }),
  reference: triadReference,
};
