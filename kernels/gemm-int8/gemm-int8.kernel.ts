import type { KernelDimension, KernelSpec, KernelVariant } from "../kernel-spec.ts";
import { seededUniform } from "../seeded-uniform.ts";
import { gemmInt8Reference } from "./gemm-int8.reference.ts";

type Size = "m" | "n" | "k";

const size = (name: Size, description: string): KernelDimension<Size> => ({
  name,
  description,
  min: 1,
  max: 8192,
  default: 512,
});

/** Best on software devices: registers only. */
const registerTiled: KernelVariant<Size, "lanesN" | "lanesM"> = {
  name: "register-tiled",
  file: "register-tiled.wgsl",
  axes: [
    { name: "lanesN", values: [8, 16], default: 8 },
    { name: "lanesM", values: [1, 4, 16], default: 1 },
  ],
  passes: [
    {
      entryPoint: "main",
      workgroups: ({ m, n }, { lanesN, lanesM }) => [Math.ceil(n / (4 * lanesN)), Math.ceil(m / (4 * lanesM)), 1],
    },
  ],
};

/** The textbook's: workgroup memory and barriers. */
const sharedTiled: KernelVariant<Size, "tile"> = {
  name: "shared-tiled",
  file: "shared-tiled.wgsl",
  axes: [{ name: "tile", values: [8, 16], default: 16 }],
  passes: [{ entryPoint: "main", workgroups: ({ m, n }, { tile }) => [Math.ceil(n / tile), Math.ceil(m / tile), 1] }],
};

/**
 * Matrix product in int8 with exact sums. B comes transposed, as quantised weights are kept: four neighbours
 * along K make the word that a dot product of packed bytes takes.
 */
export const gemmInt8: KernelSpec<Size> = {
  name: "gemm-int8",
  description: "Matrix product C[m × n] = A[m × k] · B[n × k]ᵀ in int8, summed in int32",
  folder: new URL(".", import.meta.url),
  dimensions: [size("m", "Rows of A and C"), size("n", "Rows of B, columns of C"), size("k", "Columns of A and B")],
  dtypes: ["int8"],
  bindings: [
    { name: "a", access: "read", dtype: "int8", extents: ({ m, k }) => [m, k], alignment: [1, 16] },
    { name: "b", access: "read", dtype: "int8", extents: ({ n, k }) => [n, k], alignment: [1, 16] },
    { name: "c", access: "write", dtype: "int32", extents: ({ m, n }) => [m, n], alignment: [1, 4] },
  ],
  variants: [registerTiled, sharedTiled],
  flops: ({ m, n, k }) => 2 * m * n * k,
  bytes: ({ m, n, k }) => m * k + n * k + 4 * m * n,
  tolerance: { relative: 0, absolute: () => 0, reason: "integers: 8192 products of bytes stay below 2³¹" },
  generate: ({ m, n, k }, seed) => ({ a: seededBytes(seed, 0, m * k), b: seededBytes(seed, 1, n * k) }),
  reference: gemmInt8Reference,
};

/** All of −128 to 127. */
function seededBytes(seed: number, stream: number, length: number): Int8Array<ArrayBuffer> {
  return Int8Array.from(seededUniform(seed, stream, length, 128), Math.floor);
}
