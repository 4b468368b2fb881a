import type { KernelArrays, KernelReference, KernelShape } from "../kernel-spec.ts";

/** Multiply-adds of a round: the WGSL repeats so many that the loop around them costs little. */
export const STEPS_PER_ROUND = 16;

/** Step by step in f64. */
export function fmaPeakReference(inputs: KernelArrays, { n, rounds }: KernelShape<"n" | "rounds">): KernelReference {
  const { coefficients, x } = inputs as { coefficients: Float32Array; x: Float32Array };
  const [a, b] = coefficients as unknown as readonly [number, number];
  const steps = STEPS_PER_ROUND * rounds;
  return {
    output: "y",
    length: n,
    elementFlops: 2 * steps,
    element: (index) => {
      let value = x[index]!;
      for (let step = 0; step < steps; step++) value = a * value + b;
      return value;
    },
  };
}
