import type { KernelSpec, KernelVariant } from "../kernel-spec.ts";
import { trafficPeak } from "../peaks.ts";
import { seededUniform } from "../seeded-uniform.ts";
import { MAX_LENGTH } from "../webgpu-limits.ts";
import { reduceReference } from "./reduce.reference.ts";

const MAX_PARTIALS = 1024;

const tree: KernelVariant<"n", "lanes" | "groups"> = {
  name: "tree",
  file: "reduce.wgsl",
  axes: [
    { name: "lanes", values: [32, 64, 128, 256], default: 64 },
    { name: "groups", values: [16, 64, 256, MAX_PARTIALS], default: 64 },
  ],
  passes: [
    { entryPoint: "sumShares", workgroups: (_, { groups }) => [groups, 1, 1] },
    { entryPoint: "sumPartials", workgroups: () => [1, 1, 1] },
  ],
};

/** Sum of an array, the same bits every time. */
export const reduce: KernelSpec<"n"> = {
  name: "reduce",
  description: "Deterministic sum of an array",
  folder: new URL(".", import.meta.url),
  dimensions: [{ name: "n", description: "Elements to sum", min: 1, max: MAX_LENGTH, default: 2 ** 22 }],
  dtypes: ["float32"],
  bindings: [
    { name: "values", access: "read", dtype: "float32", extents: ({ n }) => [n], alignment: [4] },
    { name: "partials", access: "scratch", dtype: "float32", extents: () => [MAX_PARTIALS], alignment: [1] },
    { name: "total", access: "write", dtype: "float32", extents: () => [1], alignment: [1] },
  ],
  variants: [tree],
  onRealGpu: { variant: "tree", axes: { lanes: 256, groups: 1024 } },
  flops: ({ n }) => n - 1,
  bytes: ({ n }) => 4 * (n + 1),
  peak: trafficPeak("read", [
    { lanes: 64, groups: 64 },
    { lanes: 256, groups: 1024 },
  ]),
  tolerance: {
    relative: 0,
    absolute: () => 0,
    reason:
      "inputs are integers of (-8, 8) round 0, whose sums stay far below 2²⁴ (a random walk of 2²⁵ steps of deviation 4.2 goes some 10⁵ far), so f32 adds them exactly in any order",
  },
  generate: ({ n }, seed) => ({ values: seededUniform(seed, 0, n, 8).map(Math.trunc) }),
  reference: reduceReference,
};
