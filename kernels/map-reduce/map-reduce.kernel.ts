import type { KernelSpec, KernelVariant } from "../kernel-spec.ts";
import { seededUniform } from "../seeded-uniform.ts";
import { coverItems } from "../webgpu-limits.ts";
import { mapReduceReference } from "./map-reduce.reference.ts";

const MAX_PARTIALS = 1024;

const axes = [
  { name: "lanes", values: [4, 16, 32, 64, 128, 256], default: 64 },
  { name: "groups", values: [4, 16, 64, 256, MAX_PARTIALS], default: 16 },
] as const;

const fused: KernelVariant<"n", "lanes" | "groups"> = {
  name: "fused",
  file: "map-reduce.wgsl",
  axes,
  passes: [
    { entryPoint: "sumShares", workgroups: (_, { groups }) => [groups, 1, 1] },
    { entryPoint: "sumPartials", workgroups: () => [1, 1, 1] },
  ],
};

/** Stores the products and sums them in a second dispatch, to show what fusion saves. */
const unfused: KernelVariant<"n", "lanes" | "groups"> = {
  name: "unfused",
  file: "map-reduce.wgsl",
  axes,
  passes: [
    { entryPoint: "writeProducts", workgroups: ({ n }, { lanes }) => coverItems(n / 4, lanes) },
    { entryPoint: "sumProducts", workgroups: (_, { groups }) => [groups, 1, 1] },
    { entryPoint: "sumPartials", workgroups: () => [1, 1, 1] },
  ],
};

/** Scalar product, the same bits every time. */
export const mapReduce: KernelSpec<"n"> = {
  name: "map-reduce",
  description: "Map and reduce, fused: the deterministic sum of a[i] · b[i]",
  folder: new URL(".", import.meta.url),
  dimensions: [{ name: "n", description: "Elements of each array", min: 1, max: 2 ** 24, default: 2 ** 21 }],
  dtypes: ["float32"],
  bindings: [
    { name: "a", access: "read", dtype: "float32", extents: ({ n }) => [n], alignment: [4] },
    { name: "b", access: "read", dtype: "float32", extents: ({ n }) => [n], alignment: [4] },
    { name: "products", access: "scratch", dtype: "float32", extents: ({ n }) => [n], alignment: [4] },
    { name: "partials", access: "scratch", dtype: "float32", extents: () => [MAX_PARTIALS], alignment: [1] },
    { name: "total", access: "write", dtype: "float32", extents: () => [1], alignment: [1] },
  ],
  variants: [fused, unfused],
  onRealGpu: { variant: "fused", axes: { lanes: 128, groups: 1024 } },
  flops: ({ n }) => 2 * n,
  bytes: ({ n }) => 8 * n + 4,
  tolerance: {
    relative: 0,
    absolute: () => 0,
    reason:
      "inputs are integers of (-8, 8) round 0, the sums of whose products stay far below 2²⁴ (a random walk of 2²⁴ steps of deviation 20 goes some 4·10⁵ far), so f32 adds them exactly in any order",
  },
  generate: ({ n }, seed) => ({
    a: seededUniform(seed, 0, n, 8).map(Math.trunc),
    b: seededUniform(seed, 1, n, 8).map(Math.trunc),
  }),
  reference: mapReduceReference,
};
