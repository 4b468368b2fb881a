import type { KernelArrays, KernelReference, KernelShape } from "../kernel-spec.ts";

/** diversity = mean Euclidean distance over all pairs of members; 0 where there is one member only. */
export function pairwiseDistanceReference(
  inputs: KernelArrays,
  { members, genes }: KernelShape<"members" | "genes">,
): KernelReference {
  const { population } = inputs as { population: Float32Array };
  return {
    output: "diversity",
    length: 1,
    elementFlops: (3 * genes * members * (members - 1)) / 2,
    element: () => {
      let sum = 0;
      for (let a = 0; a < members; a++) {
        for (let b = 0; b < a; b++) {
          let squares = 0;
          for (let i = 0; i < genes; i++) squares += (population[a * genes + i]! - population[b * genes + i]!) ** 2;
          sum += Math.sqrt(squares);
        }
      }
      return sum / Math.max(1, (members * (members - 1)) / 2);
    },
  };
}
