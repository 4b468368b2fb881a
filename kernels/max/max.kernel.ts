import type { KernelSpec, KernelVariant } from "../kernel-spec.ts";
import { seededUniform } from "../seeded-uniform.ts";
import { MAX_LENGTH } from "../webgpu-limits.ts";
import { maxReference } from "./max.reference.ts";

const MAX_PARTIALS = 1024;

const tree: KernelVariant<"n", "lanes" | "groups"> = {
  name: "tree",
  file: "max.wgsl",
  axes: [
    { name: "lanes", values: [4, 16, 32, 64, 128, 256], default: 64 },
    { name: "groups", values: [4, 16, 64, 256, MAX_PARTIALS], default: 16 },
  ],
  passes: [
    { entryPoint: "findShares", workgroups: (_, { groups }) => [groups, 1, 1] },
    { entryPoint: "findHigh", workgroups: () => [1, 1, 1] },
  ],
};

/** Largest element of an array without NaN. */
export const max: KernelSpec<"n"> = {
  name: "max",
  description: "Largest element of an array",
  folder: new URL(".", import.meta.url),
  dimensions: [{ name: "n", description: "Elements, none of them NaN", min: 1, max: MAX_LENGTH, default: 2 ** 22 }],
  dtypes: ["float32"],
  bindings: [
    { name: "values", access: "read", dtype: "float32", extents: ({ n }) => [n], alignment: [4] },
    { name: "partials", access: "scratch", dtype: "float32", extents: () => [MAX_PARTIALS], alignment: [1] },
    { name: "high", access: "write", dtype: "float32", extents: () => [1], alignment: [1] },
  ],
  variants: [tree],
  onRealGpu: { variant: "tree", axes: { lanes: 128, groups: 1024 } },
  flops: ({ n }) => n - 1,
  bytes: ({ n }) => 4 * (n + 1),
  tolerance: { relative: 0, absolute: () => 0, reason: "an element is chosen, never computed with" },
  // All below zero, so that padding, which is zero, would win if it counted.
  generate: ({ n }, seed) => ({ values: seededUniform(seed, 0, n).map((value) => value - 1.5) }),
  reference: maxReference,
};
