import type { KernelArrays, KernelReference, KernelShape } from "../kernel-spec.ts";

/** leader[election] = index of the highest score, the lowest index where several are equal. */
export function consensusLeaderReference(
  inputs: KernelArrays,
  { elections, candidates }: KernelShape<"elections" | "candidates">,
): KernelReference {
  const { scores } = inputs as { scores: Int32Array };
  return {
    output: "leader",
    length: elections,
    elementFlops: candidates,
    element: (election) => {
      const own = scores.subarray(election * candidates, (election + 1) * candidates);
      return own.reduce((best, score, index) => (score > own[best]! ? index : best), 0);
    },
  };
}
