import type { KernelSpec, KernelVariant } from "../kernel-spec.ts";
import { seededIntegers } from "../seeded-integers.ts";
import { seededUniform } from "../seeded-uniform.ts";
import { coverItems } from "../webgpu-limits.ts";
import { randomAccessReference } from "./random-access.reference.ts";

type Size = "n" | "span";

/** The seeded values have so many steps, so every place of a table can occur. */
const MAX_SPAN = 2 ** 24;

const striding: KernelVariant<Size, "lanes"> = {
  name: "grid-stride",
  file: "random-access.wgsl",
  axes: [{ name: "lanes", values: [32, 64, 128, 256], default: 64 }],
  passes: [{ entryPoint: "main", workgroups: ({ n }, { lanes }) => coverItems(n, lanes) }],
};

/** The cost of reads at random places by the size of the table. */
export const randomAccess: KernelSpec<Size> = {
  name: "random-access",
  description: "Bandwidth of reading a table at random places: y[i] = table[places[i]]",
  folder: new URL(".", import.meta.url),
  dimensions: [
    { name: "n", description: "Elements that are read", min: 1, max: 2 ** 23, default: 2 ** 20 },
    { name: "span", description: "Elements of the table", min: 1, max: MAX_SPAN, default: 2 ** 22 },
  ],
  dtypes: ["float32"],
  bindings: [
    { name: "table", access: "read", dtype: "float32", extents: ({ span }) => [span], alignment: [1] },
    { name: "places", access: "read", dtype: "int32", extents: ({ n }) => [n], alignment: [1] },
    { name: "y", access: "write", dtype: "float32", extents: ({ n }) => [n], alignment: [1] },
  ],
  variants: [striding],
  flops: () => 0,
  bytes: ({ n }) => 12 * n,
  tolerance: { relative: 0, absolute: () => 0, reason: "elements are moved, never computed with" },
  generate: ({ n, span }, seed) => ({
    table: seededUniform(seed, 0, span),
    places: seededIntegers(seed, 1, n, 0, span - 1),
  }),
  reference: randomAccessReference,
};
