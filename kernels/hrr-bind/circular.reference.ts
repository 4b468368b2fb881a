import type { KernelArray, KernelReference, KernelShape } from "../kernel-spec.ts";

export type CircularSize = "pairs" | "dimension";

/**
 * output[pairs × d], by the definition in f64. Convolution: Σ second[j]·first[k − j]; correlation, where
 * `conjugate` is −1: Σ second[j]·first[k + j]. Indexes are taken modulo d (Plate, IEEE Trans. Neural Networks 1995).
 */
export function circularReference(
  first: KernelArray,
  second: KernelArray,
  output: string,
  conjugate: 1 | -1,
  { pairs, dimension }: KernelShape<CircularSize>,
): KernelReference {
  return {
    output,
    length: pairs * dimension,
    elementFlops: 2 * dimension,
    element(index) {
      const k = index % dimension;
      const own = index - k;
      let sum = 0;
      for (let j = 0; j < dimension; j++) {
        sum += second[own + j]! * first[own + ((k - conjugate * j + dimension) % dimension)]!;
      }
      return sum;
    },
  };
}
