import { gemmReference } from "../gemm/gemm.reference.ts";
import type { KernelDimension, KernelSpec, KernelVariant } from "../kernel-spec.ts";
import { seededUniform } from "../seeded-uniform.ts";
import { tileInRegisters } from "../tiled-product/tiled-product.ts";

type Size = "m" | "n" | "k";

const size = (name: Size, description: string): KernelDimension<Size> => ({
  name,
  description,
  min: 1,
  max: 8192,
  default: 512,
});

const registerTiled = tileInRegisters<Size>(
  {
    name: "register-tiled",
    file: "register-tiled.wgsl",
    shared: [],
    rowsEach: 4,
    extent: ({ m, n }) => ({ rows: m, columns: n }),
  },
  { lanesN: { values: [8, 16], default: 8 }, lanesM: { values: [1, 4, 16], default: 1 } },
);

/** Workgroup memory and barriers. */
const sharedTiled: KernelVariant<Size, "tile"> = {
  name: "shared-tiled",
  file: "shared-tiled.wgsl",
  axes: [{ name: "tile", values: [8, 16], default: 16 }],
  passes: [
    { entryPoint: "main", workgroups: ({ m, n }, { tile }) => [Math.ceil(n / (4 * tile)), Math.ceil(m / tile), 1] },
  ],
};

/** Matrix product of halves, summed in f32 and rounded once. */
export const gemmF16: KernelSpec<Size> = {
  name: "gemm-f16",
  description: "Matrix product C[m × n] = A[m × k] · B[k × n] in f16, summed in f32",
  folder: new URL(".", import.meta.url),
  dimensions: [size("m", "Rows of A and C"), size("n", "Columns of B and C"), size("k", "Columns of A, rows of B")],
  dtypes: ["float16"],
  features: ["shader-f16"],
  bindings: [
    { name: "a", access: "read", dtype: "float16", extents: ({ m, k }) => [m, k], alignment: [1, 4] },
    { name: "b", access: "read", dtype: "float16", extents: ({ n, k }) => [k, n], alignment: [4, 4] },
    { name: "c", access: "write", dtype: "float16", extents: ({ m, n }) => [m, n], alignment: [1, 4] },
  ],
  variants: [registerTiled, sharedTiled],
  flops: ({ m, n, k }) => 2 * m * n * k,
  bytes: ({ m, n, k }) => 2 * (m * k + k * n + m * n),
  tolerance: {
    relative: 2 ** -10,
    // Σ|a||b| is k/4 on average for inputs that are uniform in [-1, 1).
    absolute: ({ k }) => 8 * Math.sqrt(k) * 2 ** -24 * Math.max(1, k / 4) + 2 ** -14,
    reason:
      "products of halves are exact in f32, and k of them are summed there: λ·√k·u·Σ|a||b| with λ = 8 (Higham and Mary, SIAM J. Sci. Comput. 2019); then a conversion to f16 to either neighbour, which may flush what is below 2⁻¹⁴ (WGSL, floating-point evaluation)",
  },
  generate: ({ m, n, k }, seed) => ({
    a: new Float16Array(seededUniform(seed, 0, m * k)),
    b: new Float16Array(seededUniform(seed, 1, k * n)),
  }),
  reference: gemmReference,
};
