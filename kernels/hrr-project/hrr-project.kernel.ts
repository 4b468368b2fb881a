import { shorten, vectorDimension } from "../hrr-bind/hrr-vectors.ts";
import type { KernelSpec, KernelVariant } from "../kernel-spec.ts";
import { seededUniform } from "../seeded-uniform.ts";
import { MAX_GROUPS } from "../webgpu-limits.ts";
import { type HrrProjectSize, hrrProjectReference } from "./hrr-project.reference.ts";

/** Best on software devices: registers only. */
const fourByFour: KernelVariant<HrrProjectSize, "lanes"> = {
  name: "four-by-four",
  file: "four-by-four.wgsl",
  axes: [{ name: "lanes", values: [4, 8, 16, 64], default: 8 }],
  passes: [
    {
      entryPoint: "project",
      workgroups: ({ rows, outputs }, { lanes }) => [Math.ceil(outputs / (4 * lanes)), Math.ceil(rows / 4), 1],
    },
    { entryPoint: "normalise", workgroups: ({ rows }, { lanes }) => [Math.ceil(rows / lanes), 1, 1] },
  ],
};

/** In one pass: lanes along the outputs meet for a row's length. */
const rowPerGroup: KernelVariant<HrrProjectSize, "lanes"> = {
  name: "row-per-group",
  file: "row-per-group.wgsl",
  axes: [{ name: "lanes", values: [4, 32, 64, 256], default: 64 }],
  passes: [{ entryPoint: "main", workgroups: ({ rows }) => [rows, 1, 1] }],
};

/** Random projection into the space of holographic reduced representations. */
export const hrrProject: KernelSpec<HrrProjectSize> = {
  name: "hrr-project",
  description: "Y = X·Wᵀ with rows of Y of length 1; W[outputs × n] is uniform in [−1, 1)/√n by its seed",
  folder: new URL(".", import.meta.url),
  dimensions: [
    { name: "rows", description: "Rows of X", min: 1, max: MAX_GROUPS, default: 64 },
    { name: "inputs", description: "Columns of X and W, the n of 1/√n", min: 1, max: 8192, default: 256 },
    { ...vectorDimension, name: "outputs" },
  ],
  batchDimension: "rows",
  dtypes: ["float32"],
  bindings: [
    { name: "x", access: "read", dtype: "float32", extents: ({ rows, inputs }) => [rows, inputs], alignment: [1, 4] },
    { name: "w", access: "read", dtype: "float32", extents: (s) => [s.outputs, s.inputs], alignment: [4, 4] },
    {
      name: "y",
      access: "write",
      dtype: "float32",
      extents: ({ rows, outputs }) => [rows, outputs],
      alignment: [1, 4],
    },
  ],
  variants: [fourByFour, rowPerGroup],
  splitBy: "rows",
  flops: ({ rows, inputs, outputs }) => rows * outputs * (2 * inputs + 3),
  bytes: ({ rows, inputs, outputs }) => 4 * (rows * inputs + outputs * inputs + rows * outputs),
  tolerance: {
    relative: 0,
    absolute: ({ rows, inputs, outputs }) =>
      ((8 * (Math.sqrt(inputs) + Math.sqrt(outputs)) * 2 ** -24) / Math.sqrt(outputs)) * shorten(rows, outputs),
    reason:
      "rounding of sums of n products of random sign and of d squares in f32, each λ·√n·u with λ = 8 (Higham and Mary, SIAM J. Sci. Comput. 2019), of values of size 1/√d; the shortest of m random rows is about m^(1/d) times shorter than the others, but for d = 1, where generated sums do not cancel",
  },
  generate: ({ rows, inputs, outputs }, seed) => {
    const x = seededUniform(seed, 0, rows * inputs);
    const w = seededUniform(seed, 1, outputs * inputs, 1 / Math.sqrt(inputs));
    // A single value keeps only its sign, and no sum is near zero where its products have one sign.
    if (outputs === 1) {
      x.forEach(
        (value, i) => (x[i] = Math.abs(value) * Math.sign(w[i % inputs]!) * (i % (2 * inputs) < inputs ? 1 : -1)),
      );
    }
    return { x, w };
  },
  reference: hrrProjectReference,
};
