import type { KernelArrays, KernelReference, KernelShape } from "../kernel-spec.ts";

/** cosines[pairs]: x·y / (‖x‖·‖y‖) of each pair in f64, 0 where a norm is 0. */
export function hrrSimilarityReference(
  arrays: KernelArrays,
  { pairs, dimension }: KernelShape<"pairs" | "dimension">,
): KernelReference {
  const { x, y } = arrays as { x: Float32Array; y: Float32Array };
  return {
    output: "cosines",
    length: pairs,
    elementFlops: 6 * dimension,
    element(pair) {
      let [product, squaresX, squaresY] = [0, 0, 0];
      for (let i = pair * dimension; i < (pair + 1) * dimension; i++) {
        product += x[i]! * y[i]!;
        squaresX += x[i]! * x[i]!;
        squaresY += y[i]! * y[i]!;
      }
      return squaresX === 0 || squaresY === 0 ? 0 : product / Math.sqrt(squaresX * squaresY);
    },
  };
}
