import type { KernelSpec, KernelVariant } from "../kernel-spec.ts";
import { atomicsContentionReference } from "./atomics-contention.reference.ts";

type Size = "n" | "counters";

const CLEAR_LANES = 16;

const interleaved: KernelVariant<Size, "lanes" | "groups"> = {
  name: "interleaved",
  file: "atomics-contention.wgsl",
  axes: [
    { name: "lanes", values: [16, 64, 256], default: 64 },
    { name: "groups", values: [16, 64, 256], default: 64 },
  ],
  passes: [
    { entryPoint: "clear", workgroups: ({ counters }) => [Math.ceil(counters / CLEAR_LANES), 1, 1] },
    { entryPoint: "count", workgroups: (_, { groups }) => [groups, 1, 1] },
  ],
};

/** The cost of atomic additions by the number of invocations that share a counter. */
export const atomicsContention: KernelSpec<Size> = {
  name: "atomics-contention",
  description: "Rate of atomic additions to a few counters: counts[i mod counters] += 1",
  folder: new URL(".", import.meta.url),
  dimensions: [
    { name: "n", description: "Additions", min: 1, max: 2 ** 24, default: 2 ** 20 },
    { name: "counters", description: "Counters that share them", min: 1, max: 2 ** 19, default: 1 },
  ],
  dtypes: ["int32"],
  bindings: [{ name: "counts", access: "write", dtype: "int32", extents: (s) => [s.counters], alignment: [1] }],
  variants: [interleaved],
  flops: () => 0,
  // The least traffic of an addition, wherever atomics are computed: its counter is read and written.
  bytes: ({ n }) => 8 * n,
  tolerance: { relative: 0, absolute: () => 0, reason: "integers" },
  generate: () => ({}),
  reference: atomicsContentionReference,
};
