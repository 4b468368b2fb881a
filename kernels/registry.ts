import { batchedGemm } from "./batched-gemm/batched-gemm.kernel.ts";
import { gemm } from "./gemm/gemm.kernel.ts";
import { gemv } from "./gemv/gemv.kernel.ts";
import type { KernelSpec } from "./kernel-spec.ts";
import { layernorm } from "./layernorm/layernorm.kernel.ts";
import { matmulBiasActivation } from "./matmul-bias-activation/matmul-bias-activation.kernel.ts";
import { mlp } from "./mlp/mlp.kernel.ts";
import { reduce } from "./reduce/reduce.kernel.ts";
import { softmax } from "./softmax/softmax.kernel.ts";
import { transpose } from "./transpose/transpose.kernel.ts";
import { triad } from "./triad/triad.kernel.ts";

/** Every kernel of the house, by name. */
export const KERNELS: ReadonlyMap<string, KernelSpec> = new Map(
  [gemm, triad, reduce, mlp, gemv, transpose, softmax, layernorm, matmulBiasActivation, batchedGemm].map(
    (spec: KernelSpec) => [spec.name, spec],
  ),
);
