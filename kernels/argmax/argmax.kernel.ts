import type { KernelSpec, KernelVariant } from "../kernel-spec.ts";
import { seededUniform } from "../seeded-uniform.ts";
import { MAX_LENGTH } from "../webgpu-limits.ts";
import { argmaxReference } from "./argmax.reference.ts";

const MAX_PARTIALS = 1024;

const tree: KernelVariant<"n", "lanes" | "groups"> = {
  name: "tree",
  file: "argmax.wgsl",
  axes: [
    { name: "lanes", values: [4, 16, 32, 64, 128, 256], default: 64 },
    { name: "groups", values: [4, 16, 64, 256, MAX_PARTIALS], default: 16 },
  ],
  passes: [
    { entryPoint: "findShares", workgroups: (_, { groups }) => [groups, 1, 1] },
    { entryPoint: "findBest", workgroups: () => [1, 1, 1] },
  ],
};

/** Index of the largest element of an array without NaN. */
export const argmax: KernelSpec<"n"> = {
  name: "argmax",
  description: "Index of the largest element of an array, the lowest one of equals",
  folder: new URL(".", import.meta.url),
  dimensions: [{ name: "n", description: "Elements, none of them NaN", min: 1, max: MAX_LENGTH, default: 2 ** 22 }],
  dtypes: ["float32"],
  bindings: [
    { name: "values", access: "read", dtype: "float32", extents: ({ n }) => [n], alignment: [4] },
    { name: "highs", access: "scratch", dtype: "float32", extents: () => [MAX_PARTIALS], alignment: [1] },
    { name: "indexes", access: "scratch", dtype: "int32", extents: () => [MAX_PARTIALS], alignment: [1] },
    { name: "index", access: "write", dtype: "int32", extents: () => [1], alignment: [1] },
    { name: "high", access: "write", dtype: "float32", extents: () => [1], alignment: [1] },
  ],
  variants: [tree],
  onRealGpu: { variant: "tree", axes: { lanes: 128, groups: 1024 } },
  flops: ({ n }) => n - 1,
  bytes: ({ n }) => 4 * (n + 2),
  tolerance: { relative: 0, absolute: () => 0, reason: "an element is chosen, never computed with" },
  // All below zero, so that padding, which is zero, would win if it counted; and many equals.
  generate: ({ n }, seed) => ({ values: seededUniform(seed, 0, n, 500).map((value) => Math.floor(value) - 501) }),
  reference: argmaxReference,
};
