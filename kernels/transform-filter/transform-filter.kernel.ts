import type { KernelSpec, KernelVariant } from "../kernel-spec.ts";
import { seededUniform } from "../seeded-uniform.ts";
import { FILTER_SCALE, FILTER_THRESHOLD, transformFilterReference } from "./transform-filter.reference.ts";

const MAX_SHARES = 4096;

const constants = () => ({ threshold: FILTER_THRESHOLD, scale: FILTER_SCALE });

/** Best on software devices: every invocation walks along a share of its own, twice. */
const sharePerLane: KernelVariant<"n", "shares" | "lanes"> = {
  name: "share-per-lane",
  file: "share-per-lane.wgsl",
  axes: [
    { name: "shares", values: [64, 256, 1024, MAX_SHARES], default: 256 },
    { name: "lanes", values: [4, 16, 64], default: 16 },
  ],
  constants,
  passes: [
    { entryPoint: "countShares", workgroups: (_, { shares, lanes }) => [shares / lanes, 1, 1] },
    { entryPoint: "scanShares", workgroups: () => [1, 1, 1] },
    { entryPoint: "writeKept", workgroups: (_, { shares, lanes }) => [shares / lanes, 1, 1] },
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
  constants,
  passes: [
    { entryPoint: "countShares", workgroups: (_, { shares }) => [shares, 1, 1] },
    { entryPoint: "scanShares", workgroups: () => [1, 1, 1] },
    { entryPoint: "writeKept", workgroups: (_, { shares }) => [shares, 1, 1] },
  ],
};

/** Compaction that keeps the order and transforms the values that it keeps. */
export const transformFilter: KernelSpec<"n"> = {
  name: "transform-filter",
  description: "Order-preserving compaction: 3·x for every x above 1/4, and how many there are",
  folder: new URL(".", import.meta.url),
  dimensions: [{ name: "n", description: "Elements", min: 1, max: 2 ** 24, default: 2 ** 20 }],
  dtypes: ["float32"],
  bindings: [
    { name: "values", access: "read", dtype: "float32", extents: ({ n }) => [n], alignment: [4] },
    { name: "offsets", access: "scratch", dtype: "int32", extents: () => [MAX_SHARES + 1], alignment: [1] },
    { name: "kept", access: "write", dtype: "float32", extents: ({ n }) => [n], alignment: [1] },
    { name: "count", access: "write", dtype: "int32", extents: () => [1], alignment: [1] },
  ],
  variants: [sharePerLane, sharePerGroup],
  onRealGpu: { variant: "share-per-group", axes: { shares: 256, lanes: 32 } },
  flops: ({ n }) => 2 * n,
  bytes: ({ n }) => 8 * n,
  tolerance: {
    relative: 0,
    absolute: () => 0,
    reason: "elements are moved, and one product of f32 is rounded correctly (WGSL, accuracy of expressions)",
  },
  generate: ({ n }, seed) => ({ values: seededUniform(seed, 0, n) }),
  reference: transformFilterReference,
};
