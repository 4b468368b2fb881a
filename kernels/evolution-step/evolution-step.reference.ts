import { multiplyHigh, philox4x32 } from "../../src/stats/random/draws.ts";
import type { KernelArrays, KernelReference, KernelShape } from "../kernel-spec.ts";
import { normalQuantile } from "../../src/stats/distribution/normal.ts";

export type EvolutionStepSize = "members" | "genes" | "tournament" | "elites";

/** Purposes of draws: the third word of Philox's counter. */
const GENES = 0;
const TOURNAMENT = 1;

/**
 * children[member][gene] after one generation. The fittest `elites` come first and as they are, best first.
 * Every other child has two parents, each the fittest of `tournament` members that are drawn with return
 * (of equals the one of lower index, NaN is worst), and takes each gene from either (lowest bit of the
 * gene's word: 1 is the second). The other 31 bits of the word, u, mutate the gene if u < n = ⌊rate · 2³¹⌋:
 * plus σ times the normal quantile of (u + ½)/n, clamped to [lowest, highest]. Draw d of a member is word
 * d mod 4 of Philox4x32-10 with the counter (⌊d/4⌋, member, purpose, 0) and the key (seed, generation).
 */
export function evolutionStepReference(
  inputs: KernelArrays,
  { members, genes, tournament, elites }: KernelShape<EvolutionStepSize>,
): KernelReference {
  const { population, fitness, settings, key } = inputs as {
    population: Float32Array;
    fitness: Float32Array;
    settings: Float32Array;
    key: Int32Array;
  };
  const [rate, sigma, lowest, highest] = settings as unknown as [number, number, number, number];
  const draws = Math.floor(rate * 2 ** 31);
  const drawWord = (draw: number, member: number, purpose: number) =>
    philox4x32([Math.floor(draw / 4), member, purpose, 0], [key[0]!, key[1]!])[draw % 4]!;

  const worth = (member: number) => (Number.isNaN(fitness[member]) ? Number.NEGATIVE_INFINITY : fitness[member]!);
  /** NaN is below negative infinity, too. */
  const compare = (a: number, b: number) =>
    worth(b) - worth(a) || Number(Number.isNaN(fitness[a])) - Number(Number.isNaN(fitness[b])) || a - b;
  const byFitness = Array.from({ length: members }, (_, member) => member).toSorted(compare);

  function selectParent(child: number, parent: number): number {
    const contestants = Array.from({ length: tournament }, (_, turn) =>
      multiplyHigh(drawWord(parent * tournament + turn, child, TOURNAMENT), members),
    );
    return contestants.toSorted(compare)[0]!;
  }

  const parents = new Map<number, readonly [number, number]>();
  function findParents(child: number): readonly [number, number] {
    const pair = parents.get(child) ?? [selectParent(child, 0), selectParent(child, 1)];
    parents.set(child, pair);
    return pair;
  }

  return {
    output: "children",
    length: members * genes,
    elementFlops: 500 + 1000 * tournament,
    element(index) {
      const child = Math.floor(index / genes);
      const gene = index % genes;
      if (child < elites) return population[byFitness[child]! * genes + gene]!;
      const word = drawWord(gene, child, GENES);
      const inherited = population[findParents(child)[word & 1]! * genes + gene]!;
      const draw = word >>> 1;
      if (draw >= draws) return inherited;
      const mutated = inherited + sigma * normalQuantile((draw + 0.5) / draws);
      return Math.min(highest, Math.max(lowest, mutated));
    },
  };
}
