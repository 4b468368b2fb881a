import type { KernelArrays, KernelReference, KernelShape } from "../kernel-spec.ts";

export type CrowdingSize = "populations" | "members" | "objectives";

/** Stands for infinity, which no output may hold: the largest number of f32. */
export const END_DISTANCE = (2 - 2 ** -23) * 2 ** 127;

/**
 * distance[population][member] = sum over the objectives of the gap between its two neighbours in its
 * front, sorted by the objective (equals by index), over the front's range; 0 where that is 0. The ends of
 * an order have END_DISTANCE. A front is what has one rank; objectives have to be finite.
 */
export function crowdingDistanceReference(
  inputs: KernelArrays,
  { populations, members, objectives: width }: KernelShape<CrowdingSize>,
): KernelReference {
  const { objectives, rank } = inputs as { objectives: Float32Array; rank: Int32Array };
  let distances: Float64Array | null = null;

  function measureFront(front: readonly number[], distance: Float64Array): void {
    for (let i = 0; i < width; i++) {
      const value = (member: number) => objectives[member * width + i]!;
      const sorted = front.toSorted((a, b) => value(a) - value(b) || a - b);
      const range = value(sorted.at(-1)!) - value(sorted[0]!);
      for (const [place, member] of sorted.entries()) {
        if (place === 0 || place === sorted.length - 1) distance[member] = Number.POSITIVE_INFINITY;
        else if (range > 0) distance[member]! += (value(sorted[place + 1]!) - value(sorted[place - 1]!)) / range;
      }
    }
  }

  function measure(): Float64Array {
    const distance = new Float64Array(populations * members);
    for (let first = 0; first < populations * members; first += members) {
      const population = Array.from({ length: members }, (_, member) => first + member);
      for (const front of Map.groupBy(population, (member) => rank[member]).values()) measureFront(front, distance);
    }
    return distance.map((each) => Math.min(each, END_DISTANCE));
  }

  return {
    output: "distance",
    length: populations * members,
    elementFlops: 40 * width,
    element: (index) => (distances ??= measure())[index]!,
  };
}
