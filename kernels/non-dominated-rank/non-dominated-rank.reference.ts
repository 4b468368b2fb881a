import type { KernelArrays, KernelReference, KernelShape } from "../kernel-spec.ts";

export type RankSize = "populations" | "members" | "objectives";

/**
 * rank[population][member] = 0 where no member of the population dominates it, 1 where none does once those
 * are gone, and so on. Larger objectives are better; one dominates another that is nowhere better and
 * somewhere worse, so equals never do. Objectives have to be finite.
 */
export function nonDominatedRankReference(
  inputs: KernelArrays,
  { populations, members, objectives: width }: KernelShape<RankSize>,
): KernelReference {
  const { objectives } = inputs as { objectives: Float32Array };
  const ranks: Int32Array[] = [];

  function dominates(a: number, b: number): boolean {
    let isBetter = false;
    for (let i = 0; i < width; i++) {
      const [ours, theirs] = [objectives[a * width + i]!, objectives[b * width + i]!];
      if (ours < theirs) return false;
      isBetter ||= ours > theirs;
    }
    return isBetter;
  }

  function rankMembers(population: number): Int32Array {
    const rank = new Int32Array(members);
    const first = population * members;
    let left = Array.from({ length: members }, (_, member) => member);
    for (let current = 0; left.length > 0; current++) {
      const front = left.filter((member) => !left.some((other) => dominates(first + other, first + member)));
      for (const member of front) rank[member] = current;
      const taken = new Set(front);
      left = left.filter((member) => !taken.has(member));
    }
    return rank;
  }

  return {
    output: "rank",
    length: populations * members,
    elementFlops: 10 * members ** 2,
    element: (index) => {
      const population = Math.floor(index / members);
      return (ranks[population] ??= rankMembers(population))[index % members]!;
    },
  };
}
