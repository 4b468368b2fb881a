import type { KernelDimension, KernelShape, KernelSpec } from "../kernel-spec.ts";
import { seededUniform } from "../seeded-uniform.ts";
import {
  DENSE_IN_REGISTERS,
  DENSE_IN_SLICES,
  DENSE_IN_WORKGROUP_MEMORY,
  ONE_BATCH_OF_MATRICES,
  tileInRegisters,
  tileInSlices,
  tileInWorkgroupMemory,
} from "../tiled-product/tiled-product.ts";
import { gemmReference } from "./gemm.reference.ts";

type Size = "m" | "n" | "k";

const size = (name: Size, description: string): KernelDimension<Size> => ({
  name,
  description,
  min: 1,
  max: 8192,
  default: 512,
});

const extent = ({ m, n }: KernelShape<Size>) => ({ rows: m, columns: n });

const registerTiled = tileInRegisters(
  { name: "register-tiled", file: "register-tiled.wgsl", shared: [ONE_BATCH_OF_MATRICES, DENSE_IN_REGISTERS], extent },
  { lanesN: { values: [4, 8, 16, 32], default: 8 }, lanesM: { values: [1, 2, 4, 8], default: 1 } },
);

const sharedTiled = tileInWorkgroupMemory({
  name: "shared-tiled",
  file: "shared-tiled.wgsl",
  shared: [DENSE_IN_WORKGROUP_MEMORY],
  extent,
});

const sliced = tileInSlices({
  name: "sliced",
  file: "sliced.wgsl",
  shared: [ONE_BATCH_OF_MATRICES, DENSE_IN_SLICES],
  extent,
});

/** Matrix product in f32. */
export const gemm: KernelSpec<Size> = {
  name: "gemm",
  description: "Matrix product C[m × n] = A[m × k] · B[k × n]",
  folder: new URL(".", import.meta.url),
  dimensions: [size("m", "Rows of A and C"), size("n", "Columns of B and C"), size("k", "Columns of A, rows of B")],
  dtypes: ["float32"],
  bindings: [
    { name: "a", access: "read", dtype: "float32", extents: ({ m, k }) => [m, k], alignment: [1, 4] },
    { name: "b", access: "read", dtype: "float32", extents: ({ n, k }) => [k, n], alignment: [4, 4] },
    { name: "c", access: "write", dtype: "float32", extents: ({ m, n }) => [m, n], alignment: [1, 4] },
  ],
  variants: [registerTiled, sharedTiled, sliced],
  splitBy: "m",
  flops: ({ m, n, k }) => 2 * m * n * k,
  bytes: ({ m, n, k }) => 4 * (m * k + k * n + m * n),
  tolerance: {
    relative: 0,
    // Σ|a||b| is k/4 on average for inputs that are uniform in [-1, 1).
    absolute: ({ k }) => 8 * Math.sqrt(k) * 2 ** -24 * Math.max(1, k / 4),
    reason:
      "rounding of k products summed in f32: λ·√k·u·Σ|a||b| with λ = 8 (Higham and Mary, SIAM J. Sci. Comput. 2019)",
  },
  generate: ({ m, n, k }, seed) => ({ a: seededUniform(seed, 0, m * k), b: seededUniform(seed, 1, k * n) }),
  reference: gemmReference,
};
