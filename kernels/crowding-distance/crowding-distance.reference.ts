import type { KernelArrays, KernelReference, KernelShape } from "../kernel-spec.ts";

export type CrowdingSize = "populations" | "members" | "objectives";

/** Stands for infinity, which no output may hold: the largest number of f32. */
export const END_DISTANCE = (2 - 2 ** -23) * 2 ** 127;

/**
 * distance[population][member] = sum over the objectives of the gap between its two neighbours in its
 * front, sorted by the objective (equals by index), over the front's range; 0 where that is 0. The ends of
 * an order have END_DISTANCE. A front is the members of one rank; objectives have to be finite.
 */
export function crowdingDistanceReference(
  inputs: KernelArrays,
  { populations, members, objectives: width }: KernelShape<CrowdingSize>,
): KernelReference {
  const { objectives, rank } = inputs as { objectives: Float32Array; rank: Int32Array };
  const distances: Float64Array[] = [];

  function measureFront(front: readonly number[], first: number, distance: Float64Array): void {
    for (let i = 0; i < width; i++) {
      const value = (member: number) => objectives[(first + member) * width + i]!;
      const sorted = front.toSorted((a, b) => value(a) - value(b) || a - b);
      const range = value(sorted.at(-1)!) - value(sorted[0]!);
      for (const [place, member] of sorted.entries()) {
        if (place === 0 || place === sorted.length - 1) distance[member] = Number.POSITIVE_INFINITY;
        else if (range > 0) distance[member]! += (value(sorted[place + 1]!) - value(sorted[place - 1]!)) / range;
      }
    }
  }

  function measure(population: number): Float64Array {
    const first = population * members;
    const distance = new Float64Array(members);
    const fronts = Map.groupBy(distance.keys(), (member) => rank[first + member]);
    for (const front of fronts.values()) measureFront(front, first, distance);
    return distance.map((each) => Math.min(each, END_DISTANCE));
  }

  return {
    output: "distance",
    length: populations * members,
    elementFlops: 200 * members * width,
    element: (index) => {
      const population = Math.floor(index / members);
      return (distances[population] ??= measure(population))[index % members]!;
    },
  };
}
