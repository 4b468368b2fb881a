import type { Chance, Genome, Ports } from "./genome.ts";
import type { Bounds, Innovations } from "./innovate.ts";
import type { Species } from "./speciate.ts";
import { crossOver, mutate, type MutationRates } from "./vary-genome.ts";

/**
 * Number of children of each species, `total` in all, by its shared fitness: the sum of f/|species| over its members.
 * Where fitness is below 0 it counts from the lowest; NaN, for failed members, counts as the lowest. The rest of
 * rounding goes to the largest remainders, the first of equal ones.
 * Source: Stanley and Miikkulainen 2002, section 3.3.
 */
export function allotChildren(
  species: readonly { readonly members: readonly number[] }[],
  fitness: Float64Array,
  total: number,
): number[] {
  const lowest = Math.min(0, ...fitness.filter(Number.isFinite));
  const shares = species.map(({ members }) => {
    const sum = members.reduce(
      (all, member) => all + (Number.isFinite(fitness[member]) ? fitness[member]! - lowest : 0),
      0,
    );
    return sum / members.length;
  });
  const whole = shares.reduce((sum, share) => sum + share, 0);
  const exact = shares.map((share) => (whole > 0 ? (total * share) / whole : total / shares.length));
  const counts = exact.map(Math.floor);
  const left = total - counts.reduce((sum, count) => sum + count, 0);
  const byRemainder = exact
    .keys()
    .toArray()
    .toSorted((a, b) => exact[b]! - counts[b]! - (exact[a]! - counts[a]!));
  for (const index of byRemainder.slice(0, left)) counts[index]!++;
  return counts;
}

/**
 * Members by fitness, best first; of equal ones the smaller genome, then the first. NaN, for failed members, is worst.
 */
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

/** Largest number of a species' best members that survive unchanged. */
const ELITES = 2;
/** Share of a species' best members that have children. */
const SURVIVAL = 0.2;
/**
 * Share of children with one parent; share of the others whose second parent is of any species.
 * Source: Stanley and Miikkulainen 2002.
 */
const CLONING = 0.25;
const INTERSPECIES = 0.001;

/** Settings and random choices for children. */
export interface Nursery {
  readonly ports: Ports;
  readonly bounds: Bounds;
  readonly rates: MutationRates;
  readonly innovations: Innovations;
  /** Random choices for the child of this number. */
  readonly chanceOf: (child: number) => Chance;
}

/**
 * Next generation, as large as the last. Each species has children by its share of the fitness, and its best members
 * survive unchanged. `fitness` is that of the population, NaN for a member that failed.
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
