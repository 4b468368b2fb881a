import { vectorDimension } from "../hrr-bind/hrr-vectors.ts";
import type { KernelSpec } from "../kernel-spec.ts";
import { seededWords } from "../seeded-words.ts";
import { MAX_GROUPS } from "../webgpu-limits.ts";
import { type HrrEncodeSize, hrrEncodeReference } from "./hrr-encode.reference.ts";

/** Vectors of symbols for holographic reduced representations: the same symbol, the same vector, wherever it is made. */
export const hrrEncode: KernelSpec<HrrEncodeSize> = {
  name: "hrr-encode",
  description: "A vector of normal numbers of variance 1/d for each symbol, by its key",
  folder: new URL(".", import.meta.url),
  dimensions: [{ name: "symbols", description: "Symbols", min: 1, max: MAX_GROUPS, default: 64 }, vectorDimension],
  batchDimension: "symbols",
  dtypes: ["float32"],
  bindings: [
    { name: "keys", access: "read", dtype: "int32", extents: ({ symbols }) => [symbols, 2], alignment: [1, 1] },
    {
      name: "vectors",
      access: "write",
      dtype: "float32",
      extents: ({ symbols, dimension }) => [symbols, dimension],
      alignment: [1, 4],
    },
  ],
  variants: [
    {
      name: "four-per-lane",
      file: "hrr-encode.wgsl",
      axes: [{ name: "lanes", values: [4, 16, 64], default: 16 }],
      passes: [
        {
          entryPoint: "main",
          workgroups: ({ symbols, dimension }, { lanes }) => [Math.ceil(dimension / 4 / lanes!), symbols, 1],
        },
      ],
    },
  ],
  splitBy: "symbols",
  flops: () => 0,
  bytes: ({ symbols, dimension }) => 4 * symbols * (2 + dimension),
  tolerance: {
    relative: 3e-6,
    absolute: ({ dimension }) => 3e-7 / Math.sqrt(dimension),
    reason:
      "a normal quantile with a relative error below 2e-6 (see evolution-step), a root of 2.5 ulp and a quotient of 2.5 ulp, as WGSL promises",
  },
  generate: ({ symbols }, seed) => ({ keys: seededWords(seed, 0, 2 * symbols) }),
  reference: hrrEncodeReference,
};
