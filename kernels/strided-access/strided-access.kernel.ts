import type { KernelSpec, KernelVariant } from "../kernel-spec.ts";
import { seededUniform } from "../seeded-uniform.ts";
import { coverItems } from "../webgpu-limits.ts";
import { stridedAccessReference } from "./strided-access.reference.ts";

type Size = "n" | "stride";

/** Together with the longest stride, the largest binding that WebGPU promises: 128 MiB. */
const MAX_ELEMENTS = 2 ** 20;
const MAX_STRIDE = 32;

const striding: KernelVariant<Size, "lanes"> = {
  name: "grid-stride",
  file: "strided-access.wgsl",
  axes: [{ name: "lanes", values: [32, 64, 128, 256], default: 64 }],
  passes: [{ entryPoint: "main", workgroups: ({ n }, { lanes }) => coverItems(n, lanes) }],
};

/** The cost of reading one element of every few; only the bytes that are used count. */
export const stridedAccess: KernelSpec<Size> = {
  name: "strided-access",
  description: "Bandwidth of reading every stride-th element: y[i] = x[i · stride]",
  folder: new URL(".", import.meta.url),
  dimensions: [
    { name: "n", description: "Elements that are read", min: 1, max: MAX_ELEMENTS, default: MAX_ELEMENTS },
    { name: "stride", description: "Elements from one to the next", min: 1, max: MAX_STRIDE, default: 16 },
  ],
  dtypes: ["float32"],
  bindings: [
    { name: "x", access: "read", dtype: "float32", extents: ({ n, stride }) => [n * stride], alignment: [1] },
    { name: "y", access: "write", dtype: "float32", extents: ({ n }) => [n], alignment: [1] },
  ],
  variants: [striding],
  flops: () => 0,
  bytes: ({ n }) => 8 * n,
  tolerance: { relative: 0, absolute: () => 0, reason: "elements are moved, never computed with" },
  generate: ({ n, stride }, seed) => ({ x: seededUniform(seed, 0, n * stride) }),
  reference: stridedAccessReference,
};
