import type { KernelSpec, KernelVariant } from "../kernel-spec.ts";
import { seededWords } from "../seeded-words.ts";
import { coverItems } from "../webgpu-limits.ts";
import { divergenceReference } from "./divergence.reference.ts";

type Size = "n" | "paths" | "steps";

const striding: KernelVariant<Size, "lanes"> = {
  name: "grid-stride",
  file: "divergence.wgsl",
  axes: [{ name: "lanes", values: [32, 64, 128, 256], default: 64 }],
  passes: [{ entryPoint: "main", workgroups: ({ n }, { lanes }) => coverItems(n, lanes) }],
};

/** The cost of neighbours that take different branches. */
export const divergence: KernelSpec<Size> = {
  name: "divergence",
  description: "Neighbouring invocations on different paths, each a loop of integer arithmetic",
  folder: new URL(".", import.meta.url),
  dimensions: [
    { name: "n", description: "Elements", min: 1, max: 2 ** 22, default: 2 ** 16 },
    { name: "paths", description: "Different branches among neighbours", min: 1, max: 8, default: 8 },
    { name: "steps", description: "Length of each path", min: 1, max: 65_536, default: 64 },
  ],
  dtypes: ["int32"],
  bindings: [
    { name: "x", access: "read", dtype: "int32", extents: ({ n }) => [n], alignment: [1] },
    { name: "y", access: "write", dtype: "int32", extents: ({ n }) => [n], alignment: [1] },
  ],
  variants: [striding],
  flops: () => 0,
  bytes: ({ n }) => 8 * n,
  tolerance: { relative: 0, absolute: () => 0, reason: "integers" },
  generate: ({ n }, seed) => ({ x: seededWords(seed, 0, n) }),
  reference: divergenceReference,
};
