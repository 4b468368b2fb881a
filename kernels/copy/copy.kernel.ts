import type { KernelSpec, KernelVariant } from "../kernel-spec.ts";
import { trafficPeak } from "../peaks.ts";
import { seededUniform } from "../seeded-uniform.ts";
import { coverItems, MAX_LENGTH } from "../webgpu-limits.ts";
import { copyReference } from "./copy.reference.ts";

const striding: KernelVariant<"n", "lanes"> = {
  name: "grid-stride",
  file: "copy.wgsl",
  axes: [{ name: "lanes", values: [32, 64, 128, 256], default: 256 }],
  passes: [{ entryPoint: "main", workgroups: ({ n }, { lanes }) => coverItems(n / 4, lanes) }],
};

/** Memory bandwidth with a write for every read, after McCalpin's STREAM copy. */
export const copy: KernelSpec<"n"> = {
  name: "copy",
  description: "Memory bandwidth: y[i] = x[i]",
  folder: new URL(".", import.meta.url),
  dimensions: [{ name: "n", description: "Elements of each array", min: 1, max: MAX_LENGTH, default: 2 ** 22 }],
  dtypes: ["float32"],
  bindings: [
    { name: "x", access: "read", dtype: "float32", extents: ({ n }) => [n], alignment: [4] },
    { name: "y", access: "write", dtype: "float32", extents: ({ n }) => [n], alignment: [4] },
  ],
  variants: [striding],
  flops: () => 0,
  bytes: ({ n }) => 8 * n,
  peak: trafficPeak("copy"),
  tolerance: { relative: 0, absolute: () => 0, reason: "elements are moved, never computed with" },
  generate: ({ n }, seed) => ({ x: seededUniform(seed, 0, n) }),
  reference: copyReference,
};
