import type { Genome } from "./genome.ts";

/** Members by fitness, the best first; of equals the smaller genome, then the first. NaN, of who failed, is worst. */
export function rankMembers(
  members: readonly number[],
  population: readonly Genome[],
  fitness: Float64Array,
): readonly number[] {
  const worth = (member: number) => (Number.isNaN(fitness[member]) ? Number.NEGATIVE_INFINITY : fitness[member]!);
  return members.toSorted((a, b) => {
    if (worth(a) !== worth(b)) return worth(a) > worth(b) ? -1 : 1;
    return population[a]!.length - population[b]!.length || a - b;
  });
}
