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

/** What atomic additions cost, by how many invocations meet at one counter. */
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
  // What the additions move at the least, wherever atomics are done: a counter read and written each time.
  bytes: ({ n }) => 8 * n,
  tolerance: { relative: 0, absolute: () => 0, reason: "integers" },
  generate: () => ({}),
  reference: atomicsContentionReference,
};
