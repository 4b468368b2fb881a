import type { KernelSpec, KernelVariant } from "../kernel-spec.ts";
import { seededUniform } from "../seeded-uniform.ts";
import { scanReference } from "./scan.reference.ts";

const MAX_SHARES = 4096;

/** Best on software devices: every invocation walks along a share of its own, twice. */
const sharePerLane: KernelVariant<"n", "shares" | "lanes"> = {
  name: "share-per-lane",
  file: "share-per-lane.wgsl",
  axes: [
    { name: "shares", values: [64, 256, 1024, MAX_SHARES], default: 256 },
    { name: "lanes", values: [4, 16, 64], default: 16 },
  ],
  passes: [
    { entryPoint: "sumShares", workgroups: (_, { shares, lanes }) => [shares / lanes, 1, 1] },
    { entryPoint: "scanShares", workgroups: () => [1, 1, 1] },
    { entryPoint: "writeSums", workgroups: (_, { shares, lanes }) => [shares / lanes, 1, 1] },
  ],
};

/** The textbook's: a group walks along its share tile by tile and scans each in workgroup memory. */
const sharePerGroup: KernelVariant<"n", "shares" | "lanes"> = {
  name: "share-per-group",
  file: "share-per-group.wgsl",
  axes: [
    { name: "shares", values: [16, 64, 256, 1024], default: 64 },
    { name: "lanes", values: [4, 32, 64, 128, 256], default: 64 },
  ],
  passes: [
    { entryPoint: "sumShares", workgroups: (_, { shares }) => [shares, 1, 1] },
    { entryPoint: "scanShares", workgroups: () => [1, 1, 1] },
    { entryPoint: "writeSums", workgroups: (_, { shares }) => [shares, 1, 1] },
  ],
};

/** Inclusive prefix sums, the same bits every time. */
export const scan: KernelSpec<"n"> = {
  name: "scan",
  description: "Deterministic inclusive prefix sums of an array",
  folder: new URL(".", import.meta.url),
  dimensions: [{ name: "n", description: "Elements", min: 1, max: 2 ** 24, default: 2 ** 20 }],
  dtypes: ["float32"],
  bindings: [
    { name: "values", access: "read", dtype: "float32", extents: ({ n }) => [n], alignment: [4] },
    { name: "offsets", access: "scratch", dtype: "float32", extents: () => [MAX_SHARES], alignment: [1] },
    { name: "sums", access: "write", dtype: "float32", extents: ({ n }) => [n], alignment: [4] },
  ],
  variants: [sharePerLane, sharePerGroup],
  onRealGpu: { variant: "share-per-group", axes: { shares: 256, lanes: 32 } },
  flops: ({ n }) => n - 1,
  bytes: ({ n }) => 8 * n,
  tolerance: {
    relative: 0,
    absolute: () => 0,
    reason:
      "inputs are integers of (-8, 8) round 0, whose sums stay far below 2²⁴ (a random walk of 2²⁴ steps of deviation 4.5 goes some 10⁵ far), so f32 adds them exactly in any order",
  },
  generate: ({ n }, seed) => ({ values: seededUniform(seed, 0, n, 8).map(Math.trunc) }),
  reference: scanReference,
};
