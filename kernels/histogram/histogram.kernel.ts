import type { KernelPass, KernelShape, KernelSpec, KernelVariant } from "../kernel-spec.ts";
import { seededIntegers } from "../seeded-integers.ts";
import { MAX_LENGTH } from "../webgpu-limits.ts";
import { histogramReference } from "./histogram.reference.ts";

type Size = "n" | "bins";

/** 16 KiB of counters: the workgroup memory that WebGPU promises. */
const MAX_BINS = 4096;
const CLEAR_LANES = 16;

const clear: KernelPass<Size> = {
  entryPoint: "clear",
  workgroups: ({ bins }) => [Math.ceil(bins / CLEAR_LANES), 1, 1],
};

/** Every key is counted where all groups count. */
const globalAtomics: KernelVariant<Size, "lanes" | "groups"> = {
  name: "global-atomics",
  file: "global-atomics.wgsl",
  axes: [
    { name: "lanes", values: [16, 64, 256], default: 64 },
    { name: "groups", values: [16, 64, 256], default: 64 },
  ],
  passes: [clear, { entryPoint: "count", workgroups: (_, { groups }) => [groups, 1, 1] }],
};

/** The textbook's: every group counts for itself in workgroup memory first. */
const sharedAtomics: KernelVariant<Size, "lanes" | "groups"> = {
  name: "shared-atomics",
  file: "shared-atomics.wgsl",
  axes: [
    { name: "lanes", values: [16, 64, 256], default: 64 },
    { name: "groups", values: [16, 64, 256], default: 64 },
  ],
  constants: ({ bins }: KernelShape<Size>) => ({ bins }),
  passes: [clear, { entryPoint: "count", workgroups: (_, { groups }) => [groups, 1, 1] }],
};

/** Histogram with atomics. */
export const histogram: KernelSpec<Size> = {
  name: "histogram",
  description: "How often each key occurs, counted with atomics",
  folder: new URL(".", import.meta.url),
  dimensions: [
    { name: "n", description: "Keys", min: 1, max: MAX_LENGTH, default: 2 ** 20 },
    { name: "bins", description: "Keys that are counted: 0 to bins − 1", min: 1, max: MAX_BINS, default: 256 },
  ],
  dtypes: ["int32"],
  bindings: [
    { name: "keys", access: "read", dtype: "int32", extents: ({ n }) => [n], alignment: [1] },
    { name: "counts", access: "write", dtype: "int32", extents: ({ bins }) => [bins], alignment: [1] },
  ],
  variants: [globalAtomics, sharedAtomics],
  flops: () => 0,
  bytes: ({ n, bins }) => 4 * (n + bins),
  tolerance: { relative: 0, absolute: () => 0, reason: "integers" },
  // One key below and one above the bins, so that some are to be left out.
  generate: ({ n, bins }, seed) => ({ keys: seededIntegers(seed, 0, n, -1, bins) }),
  reference: histogramReference,
};
