import type { KernelDimension, KernelShape, KernelSpec } from "../kernel-spec.ts";
import { seededUniform } from "../seeded-uniform.ts";
import {
  DENSE_IN_REGISTERS,
  DENSE_IN_WORKGROUP_MEMORY,
  ONE_BATCH_OF_MATRICES,
  tileInRegisters,
  tileInWorkgroupMemory,
} from "../tiled-product/tiled-product.ts";
import { MAX_GROUPS } from "../webgpu-limits.ts";
import { batchedGemmReference } from "./batched-gemm.reference.ts";

type Size = "batch" | "m" | "n" | "k";

const size = (name: Size, description: string, max: number, standard: number): KernelDimension<Size> => ({
  name,
  description,
  min: 1,
  max,
  default: standard,
});

const extent = ({ batch, m, n }: KernelShape<Size>) => ({ rows: m, columns: n, products: batch });

const registerTiled = tileInRegisters(
  { name: "register-tiled", file: "register-tiled.wgsl", shared: [ONE_BATCH_OF_MATRICES, DENSE_IN_REGISTERS], extent },
  { lanesN: { values: [1, 2, 4, 8, 16, 32], default: 8 }, lanesM: { values: [1, 2, 4, 8], default: 1 } },
);

const sharedTiled = tileInWorkgroupMemory(
  { name: "shared-tiled", file: "shared-tiled.wgsl", shared: [DENSE_IN_WORKGROUP_MEMORY], extent },
  { values: [4, 8, 16], default: 16 },
);

/** Many matrix products of one size in f32. */
export const batchedGemm: KernelSpec<Size> = {
  name: "batched-gemm",
  description: "Matrix products C[m × n] = A[m × k] · B[k × n], one for each of a batch",
  folder: new URL(".", import.meta.url),
  dimensions: [
    size("batch", "Products", MAX_GROUPS, 64),
    size("m", "Rows of A and C", 8192, 64),
    size("n", "Columns of B and C", 8192, 64),
    size("k", "Columns of A, rows of B", 8192, 64),
  ],
  batchDimension: "batch",
  dtypes: ["float32"],
  bindings: [
    { name: "a", access: "read", dtype: "float32", extents: ({ batch, m, k }) => [batch, m, k], alignment: [1, 1, 4] },
    { name: "b", access: "read", dtype: "float32", extents: ({ batch, n, k }) => [batch, k, n], alignment: [1, 4, 4] },
    { name: "c", access: "write", dtype: "float32", extents: ({ batch, m, n }) => [batch, m, n], alignment: [1, 1, 4] },
  ],
  variants: [registerTiled, sharedTiled],
  splitBy: "batch",
  flops: ({ batch, m, n, k }) => 2 * batch * m * n * k,
  bytes: ({ batch, m, n, k }) => 4 * batch * (m * k + k * n + m * n),
  tolerance: {
    relative: 0,
    // Σ|a||b| is k/4 on average for inputs that are uniform in [-1, 1).
    absolute: ({ k }) => 8 * Math.sqrt(k) * 2 ** -24 * Math.max(1, k / 4),
    reason:
      "rounding of k products summed in f32: λ·√k·u·Σ|a||b| with λ = 8 (Higham and Mary, SIAM J. Sci. Comput. 2019)",
  },
  generate: ({ batch, m, n, k }, seed) => ({
    a: seededUniform(seed, 0, batch * m * k),
    b: seededUniform(seed, 1, batch * k * n),
  }),
  reference: batchedGemmReference,
};
