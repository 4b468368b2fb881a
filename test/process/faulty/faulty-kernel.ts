import type { KernelSpec } from "../../../kernels/kernel-spec.ts";

/** A kernel that fills `values` with ones, or would. */
export function faulty(name: string, file: string, changes: Partial<KernelSpec<"n">> = {}): KernelSpec<"n"> {
  return {
    name,
    description: "Misbehaves",
    folder: new URL(".", import.meta.url),
    dimensions: [{ name: "n", description: "Elements", min: 1, max: 2 ** 36, default: 64 }],
    batchDimension: "n",
    dtypes: ["float32"],
    bindings: [{ name: "values", access: "write", dtype: "float32", extents: ({ n }) => [n], alignment: [1] }],
    variants: [
      {
        name: "only",
        file,
        axes: [],
        passes: [{ entryPoint: "main", workgroups: ({ n }) => [Math.min(1024, Math.ceil(n / 64)), 1, 1] }],
      },
    ],
    flops: () => 0,
    bytes: ({ n }) => 4 * n,
    tolerance: { relative: 0, absolute: () => 0, reason: "ones are exact" },
    generate: () => ({}),
    reference: (_, { n }) => ones(n),
    ...changes,
  };
}

/** The reference of ones. */
export function ones(length: number) {
  return { output: "values", length, elementFlops: 1, element: () => 1 };
}
