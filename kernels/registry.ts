import { gemm } from "./gemm/gemm.kernel.ts";
import type { KernelSpec } from "./kernel-spec.ts";
import { mlp } from "./mlp/mlp.kernel.ts";
import { reduce } from "./reduce/reduce.kernel.ts";
import { triad } from "./triad/triad.kernel.ts";

/** Every kernel of the house, by name. */
export const KERNELS: ReadonlyMap<string, KernelSpec> = new Map(
  [gemm, triad, reduce, mlp].map((spec: KernelSpec) => [spec.name, spec]),
);
