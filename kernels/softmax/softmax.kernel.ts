import type { KernelPass, KernelSpec, KernelVariant } from "../kernel-spec.ts";
import { seededUniform } from "../seeded-uniform.ts";
import { coverItems, MAX_GROUPS } from "../webgpu-limits.ts";
import { softmaxReference } from "./softmax.reference.ts";

type Size = "rows" | "columns";

/** Best on software devices: no barrier. */
const rowPerLane: KernelVariant<Size, "lanes"> = {
  name: "row-per-lane",
  file: "row-per-lane.wgsl",
  axes: [{ name: "lanes", values: [4, 8, 16, 32, 64], default: 8 }],
  passes: [{ entryPoint: "main", workgroups: ({ rows }, { lanes }) => coverItems(rows, lanes) }],
};

/** The textbook's: lanes along the row meet in workgroup memory, once for the maximum and once for the sum. */
const rowPerGroup: KernelVariant<Size, "lanes"> = {
  name: "row-per-group",
  file: "row-per-group.wgsl",
  shared: [new URL("../row-per-group/meet-in-workgroup.wgsl", import.meta.url)],
  axes: [{ name: "lanes", values: [4, 16, 32, 64, 128, 256], default: 64 }],
  passes: [{ entryPoint: "main", workgroups: ({ rows }) => [rows, 1, 1] }],
};

/** No invocation that shares a row has less columns to itself. */
const FINEST_SHARE = 256;

/** Invocations that share a row. */
const countShares = (columns: number, shareColumns: number) => Math.max(1, Math.floor(columns / shareColumns));

const coverShares: KernelPass<Size, "lanes" | "shareColumns">["workgroups"] = (shape, { lanes, shareColumns }) =>
  coverItems(shape.rows * countShares(shape.columns, shareColumns), lanes);

/** For few long rows, which leave a device idle where each has but one invocation or group. */
const rowInShares: KernelVariant<Size, "lanes" | "shareColumns"> = {
  name: "row-in-shares",
  file: "row-in-shares.wgsl",
  axes: [
    { name: "lanes", values: [4, 16, 64], default: 16 },
    { name: "shareColumns", values: [FINEST_SHARE, 1024, 4096], default: 1024 },
  ],
  passes: [
    { entryPoint: "summarise", workgroups: coverShares },
    { entryPoint: "scale", workgroups: coverShares },
  ],
};

/** So few rows are better shared, on any device. */
const FEW_ROWS = 32;
const LONG_ROW = 4096;

/** Inputs are uniform in [-4, 4), so no output is above e⁴ / (columns · mean of eˣ), which is 8 / columns. */
const AMPLITUDE = 4;

/** Softmax along rows. */
export const softmax: KernelSpec<Size> = {
  name: "softmax",
  description: "Softmax along each row of a matrix",
  folder: new URL(".", import.meta.url),
  dimensions: [
    { name: "rows", description: "Rows, each normalised by itself", min: 1, max: MAX_GROUPS, default: 1024 },
    { name: "columns", description: "Length of a row", min: 1, max: 65_536, default: 1024 },
  ],
  batchDimension: "rows",
  dtypes: ["float32"],
  bindings: [
    { name: "x", access: "read", dtype: "float32", extents: (s) => [s.rows, s.columns], alignment: [1, 4] },
    { name: "y", access: "write", dtype: "float32", extents: (s) => [s.rows, s.columns], alignment: [1, 4] },
    {
      name: "parts",
      access: "scratch",
      dtype: "float32",
      extents: (s) => [s.rows, 2 * countShares(s.columns, FINEST_SHARE)],
      alignment: [1, 1],
    },
  ],
  variants: [rowPerLane, rowPerGroup, rowInShares],
  onRealGpu: { variant: "row-per-group", axes: { lanes: 256 } },
  preferVariant: ({ rows, columns }) => (rows <= FEW_ROWS && columns >= LONG_ROW ? "row-in-shares" : "row-per-lane"),
  splitBy: "rows",
  flops: ({ rows, columns }) => 5 * rows * columns,
  bytes: ({ rows, columns }) => 8 * rows * columns,
  tolerance: {
    relative: 64 * 2 ** -23,
    absolute: ({ columns }) => 8 * Math.sqrt(columns) * 2 ** -24 * Math.min(1, 8 / columns),
    reason:
      "twice the 3 + 2·|x| ULP that WGSL allows exp on [-8, 0], 3 for the quotient, rounded up to 64 (WGSL, accuracy of built-in functions), and the sum's λ·√n·u with λ = 8 (Higham and Mary, SIAM J. Sci. Comput. 2019) of at most 8/n",
  },
  generate: ({ rows, columns }, seed) => ({ x: seededUniform(seed, 0, rows * columns, AMPLITUDE) }),
  reference: softmaxReference,
};
