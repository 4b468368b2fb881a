import type { KernelArrays, KernelReference, KernelShape } from "../kernel-spec.ts";

/** Steps of a round: the WGSL repeats so many that the loop around them costs little. */
export const STEPS_PER_ROUND = 16;

/** The signed byte of a word, the lowest being 0. */
const byteOf = (word: number, index: number) => (word << (24 - 8 * index)) >> 24;

/** Step by step, with sums that wrap around at 32 bits. */
export function dot4PeakReference(inputs: KernelArrays, { n, rounds }: KernelShape<"n" | "rounds">): KernelReference {
  const { weights, x } = inputs as { weights: Int32Array; x: Int32Array };
  const [w = 0] = weights;
  const steps = STEPS_PER_ROUND * rounds;
  return {
    output: "y",
    length: n,
    elementFlops: 8 * steps,
    element: (index) => {
      let value = x[index]!;
      for (let step = 0; step < steps; step++) {
        let sum = value;
        for (let byte = 0; byte < 4; byte++) sum += byteOf(value, byte) * byteOf(w, byte);
        value = sum | 0;
      }
      return value;
    },
  };
}
