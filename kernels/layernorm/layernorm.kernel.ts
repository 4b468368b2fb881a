import type { KernelSpec, KernelVariant } from "../kernel-spec.ts";
import { seededUniform } from "../seeded-uniform.ts";
import { coverItems, MAX_GROUPS } from "../webgpu-limits.ts";
import { LAYERNORM_EPSILON, layernormReference } from "./layernorm.reference.ts";

type Size = "rows" | "columns";

const constants = () => ({ epsilon: LAYERNORM_EPSILON });

/** Best on software devices: no barrier. */
const rowPerLane: KernelVariant<Size, "lanes"> = {
  name: "row-per-lane",
  file: "row-per-lane.wgsl",
  axes: [{ name: "lanes", values: [4, 8, 16, 32, 64], default: 8 }],
  constants,
  passes: [{ entryPoint: "main", workgroups: ({ rows }, { lanes }) => coverItems(rows, lanes) }],
};

/** The textbook's: lanes along the row meet in workgroup memory, once for the mean and once for the variance. */
const rowPerGroup: KernelVariant<Size, "lanes"> = {
  name: "row-per-group",
  file: "row-per-group.wgsl",
  shared: [new URL("../row-per-group/meet-in-workgroup.wgsl", import.meta.url)],
  axes: [{ name: "lanes", values: [4, 16, 32, 64, 128, 256], default: 64 }],
  constants,
  passes: [{ entryPoint: "main", workgroups: ({ rows }) => [rows, 1, 1] }],
};

/** From here on, the standard deviation of values that are uniform in [-1, 1) is above 1/4. */
const SPREAD_COLUMNS = 16;

/** Layer normalisation along rows. */
export const layernorm: KernelSpec<Size> = {
  name: "layernorm",
  description: "Layer normalisation along each row of a matrix, with scale and shift",
  folder: new URL(".", import.meta.url),
  dimensions: [
    { name: "rows", description: "Rows, each normalised by itself", min: 1, max: MAX_GROUPS, default: 1024 },
    { name: "columns", description: "Length of a row", min: 1, max: 65_536, default: 1024 },
  ],
  batchDimension: "rows",
  dtypes: ["float32"],
  bindings: [
    { name: "x", access: "read", dtype: "float32", extents: (s) => [s.rows, s.columns], alignment: [1, 4] },
    { name: "scale", access: "read", dtype: "float32", extents: ({ columns }) => [columns], alignment: [4] },
    { name: "shift", access: "read", dtype: "float32", extents: ({ columns }) => [columns], alignment: [4] },
    { name: "y", access: "write", dtype: "float32", extents: (s) => [s.rows, s.columns], alignment: [1, 4] },
  ],
  variants: [rowPerLane, rowPerGroup],
  onRealGpu: { variant: "row-per-group", axes: { lanes: 128 } },
  splitBy: "rows",
  flops: ({ rows, columns }) => 8 * rows * columns,
  bytes: ({ rows, columns }) => 8 * rows * columns + 8 * columns,
  tolerance: {
    relative: 2 ** -22,
    absolute: ({ columns }) =>
      8 * Math.sqrt(columns) * 2 ** -24 * (columns < SPREAD_COLUMNS ? 1 / Math.sqrt(LAYERNORM_EPSILON) : 4),
    reason:
      "the mean's λ·√n·u with λ = 8 (Higham and Mary, SIAM J. Sci. Comput. 2019) over the deviation, which is above 1/4 but in short rows, where ε alone bounds it; the variance's error is smaller, and a product and a sum are rounded after it",
  },
  generate: ({ rows, columns }, seed) => ({
    x: seededUniform(seed, 0, rows * columns),
    scale: seededUniform(seed, 1, columns),
    shift: seededUniform(seed, 2, columns),
  }),
  reference: layernormReference,
};
