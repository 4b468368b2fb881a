import type { KernelDimension, KernelShape, KernelSpec } from "../kernel-spec.ts";
import { ACTIVATE } from "../mlp/mlp-layers.ts";
import { seededUniform } from "../seeded-uniform.ts";
import {
  DENSE_IN_REGISTERS,
  DENSE_IN_WORKGROUP_MEMORY,
  ONE_BATCH_OF_MATRICES,
  tileInRegisters,
  tileInWorkgroupMemory,
} from "../tiled-product/tiled-product.ts";
import { matmulBiasActivationReference } from "./matmul-bias-activation.reference.ts";

type Size = "m" | "n" | "k" | "activation";

const size = (name: Size, description: string, max = 8192, standard = 512): KernelDimension<Size> => ({
  name,
  description,
  min: 1,
  max,
  default: standard,
});

const extent = ({ m, n }: KernelShape<Size>) => ({ rows: m, columns: n });
const constants = ({ activation }: KernelShape<Size>) => ({ activation });

const registerTiled = tileInRegisters(
  {
    name: "register-tiled",
    file: "register-tiled.wgsl",
    shared: [ACTIVATE, ONE_BATCH_OF_MATRICES, DENSE_IN_REGISTERS],
    constants,
    extent,
  },
  { lanesN: { values: [4, 8, 16, 32], default: 8 }, lanesM: { values: [1, 2, 4, 8], default: 1 } },
);

const sharedTiled = tileInWorkgroupMemory({
  name: "shared-tiled",
  file: "shared-tiled.wgsl",
  shared: [ACTIVATE, DENSE_IN_WORKGROUP_MEMORY],
  constants,
  extent,
});

/** A dense layer in one dispatch. */
export const matmulBiasActivation: KernelSpec<Size> = {
  name: "matmul-bias-activation",
  description: "A dense layer, fused: C[m × n] = activation(A[m × k] · B[k × n] + bias[n])",
  folder: new URL(".", import.meta.url),
  dimensions: [
    size("m", "Rows of A and C"),
    size("n", "Columns of B and C, length of the bias"),
    size("k", "Columns of A, rows of B"),
    size("activation", "1 none, 2 relu, 3 tanh, 4 gelu in its tanh form, 5 sigmoid", 5, 2),
  ],
  dtypes: ["float32"],
  bindings: [
    { name: "a", access: "read", dtype: "float32", extents: ({ m, k }) => [m, k], alignment: [1, 4] },
    { name: "b", access: "read", dtype: "float32", extents: ({ n, k }) => [k, n], alignment: [4, 4] },
    { name: "bias", access: "read", dtype: "float32", extents: ({ n }) => [n], alignment: [4] },
    { name: "c", access: "write", dtype: "float32", extents: ({ m, n }) => [m, n], alignment: [1, 4] },
  ],
  variants: [registerTiled, sharedTiled],
  splitBy: "m",
  flops: ({ m, n, k }) => 2 * m * n * k + m * n,
  bytes: ({ m, n, k }) => 4 * (m * k + k * n + n + m * n),
  tolerance: {
    relative: 2 ** -20,
    // With weights of amplitude √(3/k), Σ|a||b| is √(3·k)/4 on average; gelu's slope is at most 1.13.
    absolute: ({ k, activation }) =>
      1.13 * 8 * Math.sqrt(k) * 2 ** -24 * Math.max(1, Math.sqrt(3 * k) / 4) + (activation > 2 ? 1e-5 : 0),
    reason:
      "rounding of k products summed in f32: λ·√k·u·Σ|a||b| with λ = 8 (Higham and Mary, SIAM J. Sci. Comput. 2019), times the steepest slope; 1e-5 for a tanh built from exp; the rounding of the gelu's products",
  },
  generate: ({ m, n, k }, seed) => ({
    a: seededUniform(seed, 0, m * k),
    b: seededUniform(seed, 1, k * n, Math.sqrt(3 / k)),
    bias: seededUniform(seed, 2, n),
  }),
  reference: matmulBiasActivationReference,
};
