import type { KernelSpec, KernelVariant } from "../kernel-spec.ts";
import { seededUniform } from "../seeded-uniform.ts";
import { coverItems, MAX_GROUPS } from "../webgpu-limits.ts";
import { gemvReference } from "./gemv.reference.ts";

type Size = "m" | "k";

/** Best on software devices: no barrier. */
const rowsPerLane: KernelVariant<Size, "lanes"> = {
  name: "rows-per-lane",
  file: "rows-per-lane.wgsl",
  axes: [{ name: "lanes", values: [4, 8, 16, 32, 64], default: 16 }],
  passes: [{ entryPoint: "main", workgroups: ({ m }, { lanes }) => coverItems(m / 4, lanes) }],
};

/** The textbook's: neighbouring lanes read neighbouring vectors and meet in workgroup memory. */
const rowPerGroup: KernelVariant<Size, "lanes"> = {
  name: "row-per-group",
  file: "row-per-group.wgsl",
  axes: [{ name: "lanes", values: [16, 32, 64, 128, 256], default: 64 }],
  passes: [{ entryPoint: "main", workgroups: ({ m }) => [m, 1, 1] }],
};

/** Product of a matrix and a vector in f32. */
export const gemv: KernelSpec<Size> = {
  name: "gemv",
  description: "Product of a matrix and a vector y[m] = A[m × k] · x[k]",
  folder: new URL(".", import.meta.url),
  dimensions: [
    { name: "m", description: "Rows of A, length of y", min: 1, max: MAX_GROUPS, default: 2048 },
    { name: "k", description: "Columns of A, length of x", min: 1, max: 65_536, default: 2048 },
  ],
  dtypes: ["float32"],
  bindings: [
    { name: "a", access: "read", dtype: "float32", extents: ({ m, k }) => [m, k], alignment: [1, 4] },
    { name: "x", access: "read", dtype: "float32", extents: ({ k }) => [k], alignment: [4] },
    { name: "y", access: "write", dtype: "float32", extents: ({ m }) => [m], alignment: [4] },
  ],
  variants: [rowsPerLane, rowPerGroup],
  splitBy: "m",
  flops: ({ m, k }) => 2 * m * k,
  bytes: ({ m, k }) => 4 * (m * k + k + m),
  tolerance: {
    relative: 0,
    // Σ|a||x| is k/4 on average for inputs that are uniform in [-1, 1).
    absolute: ({ k }) => 8 * Math.sqrt(k) * 2 ** -24 * Math.max(1, k / 4),
    reason:
      "rounding of k products summed in f32: λ·√k·u·Σ|a||x| with λ = 8 (Higham and Mary, SIAM J. Sci. Comput. 2019)",
  },
  generate: ({ m, k }, seed) => ({ a: seededUniform(seed, 0, m * k), x: seededUniform(seed, 1, k) }),
  reference: gemvReference,
};
