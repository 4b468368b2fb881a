import type { Chance, Genome } from "./genome.ts";

/** Weights of the parts of a distance. */
export const DISTANCE = { excess: 1, disjoint: 1, weight: 0.4 } as const;

/**
 * Distance of two genomes: δ = c₁E/N + c₂D/N + c₃W̄, with E genes beyond the other's last innovation, D other genes
 * that one of them lacks, N genes of the larger one, and W̄ the mean difference of weights of their common genes.
 * Source: Stanley and Miikkulainen 2002, equation 1.
 */
export function measureDistance(a: Genome, b: Genome): number {
  const size = Math.max(a.length, b.length);
  if (size === 0) return 0;
  let [atA, atB, matching, disjoint, difference] = [0, 0, 0, 0, 0];
  while (atA < a.length && atB < b.length) {
    const [geneA, geneB] = [a[atA]!, b[atB]!];
    if (geneA.innovation === geneB.innovation) {
      matching++;
      difference += Math.abs(geneA.weight - geneB.weight);
    } else disjoint++;
    if (geneA.innovation <= geneB.innovation) atA++;
    if (geneB.innovation <= geneA.innovation) atB++;
  }
  const excess = a.length - atA + (b.length - atB);
  const meanDifference = matching === 0 ? 0 : difference / matching;
  return (DISTANCE.excess * excess + DISTANCE.disjoint * disjoint) / size + DISTANCE.weight * meanDifference;
}

/** Similar genomes, which share their fitness and mate with each other. */
export interface Species {
  readonly id: number;
  /** Member of the previous generation: genomes nearer to it than the threshold belong here. */
  readonly representative: Genome;
  /** Members of the population by number, ascending. */
  readonly members: readonly number[];
  /** Best fitness so far, and its generation. */
  readonly best: number;
  readonly improvedAt: number;
}

/** Division into species, with the threshold and the next number. */
export interface Division {
  readonly threshold: number;
  readonly nextId: number;
  readonly species: readonly Species[];
}

/** Target number of species, and the threshold's change per generation towards it. */
const TARGET = { fewest: 5, most: 10 } as const;
const THRESHOLD = { start: 1.7, step: 0.1, least: 0.1, most: 3 } as const;
/** Best fitness of a new species. */
const UNTRIED = Number.NEGATIVE_INFINITY;

export const NO_DIVISION: Division = { threshold: THRESHOLD.start, nextId: 1, species: [] };

/**
 * Divides a population: each genome joins the first species whose representative is nearer than the threshold, or
 * founds one. Species without members are removed; the others get a random member as representative.
 */
export function divide(
  { threshold, nextId, species }: Division,
  population: readonly Genome[],
  generation: number,
  chance: Chance,
): Division {
  const found = species.map((one) => ({ ...one, members: new Array<number>() }));
  let id = nextId;
  for (const [member, genome] of population.entries()) {
    const home = found.find(({ representative }) => measureDistance(genome, representative) < threshold);
    if (home === undefined)
      found.push({ id: id++, representative: genome, members: [member], best: UNTRIED, improvedAt: generation });
    else home.members.push(member);
  }
  const left = found.filter(({ members }) => members.length > 0);
  const represented = left.map((one) => ({ ...one, representative: population[chance.pick(one.members)]! }));
  return { threshold, nextId: id, species: represented };
}

/** Threshold for the next generation: wider after too many species, narrower after too few. */
export function moveThreshold({ threshold, species }: Pick<Division, "threshold" | "species">): number {
  const { fewest, most } = TARGET;
  const step = species.length > most ? THRESHOLD.step : species.length < fewest ? -THRESHOLD.step : 0;
  // In tenths, so that rounding errors do not add up.
  const moved = Math.round((threshold + step) * 10) / 10;
  return Math.min(THRESHOLD.most, Math.max(THRESHOLD.least, moved));
}

/**
 * Generations without improvement after which a species has no children, and the number of best species exempt from it.
 */
const STAGNATION = 15;
const PROTECTED = 2;

/** Species with their members' best results. `fitness` is that of the population, NaN for a member that failed. */
export function noteBest(species: readonly Species[], fitness: Float64Array, generation: number): Species[] {
  return species.map((one) => {
    const best = bestOf(one, fitness);
    return best > one.best ? { ...one, best, improvedAt: generation } : one;
  });
}

/** Species that may have children: those that improved in time, and the two best at present. */
export function dropStagnant(species: readonly Species[], fitness: Float64Array, generation: number): Species[] {
  const byBest = species.toSorted((a, b) => bestOf(b, fitness) - bestOf(a, fitness) || a.id - b.id);
  const kept = new Set(byBest.slice(0, PROTECTED));
  return species.filter((one) => kept.has(one) || generation - one.improvedAt < STAGNATION);
}

/** The best fitness of a species; −∞ where all failed. */
export function bestOf({ members }: Pick<Species, "members">, fitness: Float64Array): number {
  return Math.max(UNTRIED, ...members.map((member) => fitness[member]!).filter((value) => !Number.isNaN(value)));
}
