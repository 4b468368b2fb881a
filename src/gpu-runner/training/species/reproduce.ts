import { allotChildren } from "./allot-children.ts";
import type { Chance } from "./chance.ts";
import { crossOver } from "./cross-over.ts";
import type { Genome, Ports } from "./genome.ts";
import type { Bounds, Innovations } from "./innovate.ts";
import { mutate, type MutationRates } from "./mutate.ts";
import { rankMembers } from "./rank-members.ts";
import type { Species } from "./speciate.ts";

/** Best members of a species, at most, that live on as they are. */
const ELITES = 2;
/** Share of a species, the best of it, that has children. */
const SURVIVAL = 0.2;
/** Of children, that have one parent; of others, that have their second in any species (Stanley and Miikkulainen 2002). */
const CLONING = 0.25;
const INTERSPECIES = 0.001;

/** What children are made by. */
export interface Nursery {
  readonly ports: Ports;
  readonly bounds: Bounds;
  readonly rates: MutationRates;
  readonly innovations: Innovations;
  /** The choices that make the child of this number. */
  readonly chanceOf: (child: number) => Chance;
}

/**
 * The next generation, as many as the last: each of these species has children by its share of the fitness, its best
 * members first and as they are. `fitness` is that of the population, NaN of a member that failed.
 */
export function reproduce(
  species: readonly Species[],
  population: readonly Genome[],
  fitness: Float64Array,
  { ports, bounds, rates, innovations, chanceOf }: Nursery,
): Genome[] {
  const ranks = rankMembers([...population.keys()], population, fitness);
  const rankOf = new Map(ranks.map((member, rank) => [member, rank]));
  const ranked = species.map(({ members }) => rankMembers(members, population, fitness));
  const parents = ranked.map((members) => members.slice(0, Math.ceil(SURVIVAL * members.length)));

  function conceive(own: readonly number[], chance: Chance): Genome {
    const first = chance.pick(own);
    if (chance.happens(CLONING)) return population[first]!;
    const second = chance.pick(chance.happens(INTERSPECIES) ? chance.pick(parents) : own);
    const [fitter, other] = rankOf.get(first)! <= rankOf.get(second)! ? [first, second] : [second, first];
    return crossOver(population[fitter]!, population[other]!, chance);
  }

  const next: Genome[] = [];
  for (const [index, count] of allotChildren(species, fitness, population.length).entries()) {
    const elites = ranked[index]!.slice(0, Math.min(ELITES, count));
    next.push(...elites.map((member) => population[member]!));
    for (let born = elites.length; born < count; born++) {
      const chance = chanceOf(next.length);
      const child = conceive(parents[index]!, chance);
      next.push(mutate(child, ports, bounds, rates, innovations, chance));
    }
  }
  return next;
}
