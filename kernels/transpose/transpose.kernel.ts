import type { KernelDimension, KernelSpec, KernelVariant } from "../kernel-spec.ts";
import { seededUniform } from "../seeded-uniform.ts";
import { transposeReference } from "./transpose.reference.ts";

type Size = "m" | "n";

const size = (name: Size, description: string): KernelDimension<Size> => ({
  name,
  description,
  min: 1,
  max: 65_536,
  default: 1024,
});

/** Best on software devices: registers only. */
const registerTiled: KernelVariant<Size, "lanesN" | "lanesM"> = {
  name: "register-tiled",
  file: "register-tiled.wgsl",
  axes: [
    { name: "lanesN", values: [1, 2, 4, 8, 16], default: 4 },
    { name: "lanesM", values: [1, 4, 8, 16], default: 8 },
  ],
  passes: [
    {
      entryPoint: "main",
      workgroups: ({ m, n }, { lanesN, lanesM }) => [Math.ceil(n / (4 * lanesN)), Math.ceil(m / (4 * lanesM)), 1],
    },
  ],
};

/** The textbook's: both the reading and the writing of a tile run along rows. */
const sharedTiled: KernelVariant<Size, "tile"> = {
  name: "shared-tiled",
  file: "shared-tiled.wgsl",
  axes: [{ name: "tile", values: [8, 16], default: 16 }],
  passes: [{ entryPoint: "main", workgroups: ({ m, n }, { tile }) => [Math.ceil(n / tile), Math.ceil(m / tile), 1] }],
};

/** Transposition of a matrix. */
export const transpose: KernelSpec<Size> = {
  name: "transpose",
  description: "Transposition of a matrix B[n × m] = A[m × n]ᵀ",
  folder: new URL(".", import.meta.url),
  dimensions: [size("m", "Rows of A, columns of B"), size("n", "Columns of A, rows of B")],
  dtypes: ["float32"],
  bindings: [
    { name: "a", access: "read", dtype: "float32", extents: ({ m, n }) => [m, n], alignment: [4, 4] },
    { name: "b", access: "write", dtype: "float32", extents: ({ m, n }) => [n, m], alignment: [4, 4] },
  ],
  variants: [registerTiled, sharedTiled],
  flops: () => 0,
  bytes: ({ m, n }) => 8 * m * n,
  tolerance: { relative: 0, absolute: () => 0, reason: "elements are moved, never computed with" },
  generate: ({ m, n }, seed) => ({ a: seededUniform(seed, 0, m * n) }),
  reference: transposeReference,
};
