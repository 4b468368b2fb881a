import type { KernelArrays, KernelReference, KernelShape } from "../kernel-spec.ts";

/** Activations by their number; gelu is the tanh form. */
const ACTIVATIONS: Readonly<Record<number, (x: number) => number>> = {
  1: (x) => x,
  2: (x) => Math.max(0, x),
  3: Math.tanh,
  4: (x) => 0.5 * x * (1 + Math.tanh(Math.sqrt(2 / Math.PI) * (x + 0.044715 * x ** 3))),
  5: (x) => 1 / (1 + Math.exp(-x)),
};

/** C[m × n] = activation(A[m × k] · B[k × n] + bias[n]), row-major, in f64. */
export function matmulBiasActivationReference(
  inputs: KernelArrays,
  shape: KernelShape<"m" | "n" | "k" | "activation">,
): KernelReference {
  const { a, b, bias } = inputs as { a: Float32Array; b: Float32Array; bias: Float32Array };
  const { m, n, k } = shape;
  const activate = ACTIVATIONS[shape.activation]!;
  return {
    output: "c",
    length: m * n,
    elementFlops: 2 * k,
    element(index) {
      const row = Math.floor(index / n);
      const column = index % n;
      let sum = bias[column]!;
      for (let i = 0; i < k; i++) sum += a[row * k + i]! * b[i * n + column]!;
      return activate(sum);
    },
  };
}
