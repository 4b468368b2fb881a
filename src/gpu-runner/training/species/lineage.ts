import { LIMITS } from "../../../protocol/limits.ts";
import type { SpeciesCensus } from "../../../protocol/training.ts";
import { createChance } from "./chance.ts";
import type { Genome, Ports } from "./genome.ts";
import { beginInnovations, type Bounds, createGenome, firstInnovations, type Innovations } from "./innovate.ts";
import type { MutationRates } from "./mutate.ts";
import { rankMembers } from "./rank-members.ts";
import { reproduce } from "./reproduce.ts";
import {
  bestOf,
  divide,
  type Division,
  dropStagnant,
  moveThreshold,
  NO_DIVISION,
  noteBest,
  type Species,
} from "./speciate.ts";

/** A generation that was made and has not been tried, with all that decides on the next. */
export interface Lineage {
  readonly generation: number;
  readonly population: readonly Genome[];
  readonly division: Division;
  readonly next: Innovations["next"];
}

/** What does not change from generation to generation. */
export interface LineageRules {
  readonly ports: Ports;
  readonly bounds: Bounds;
  readonly rates: MutationRates;
  readonly seed: number;
}

/** What a generation came to. */
export interface Advance {
  readonly lineage: Lineage;
  readonly census: SpeciesCensus;
  /** The fittest of the generation that was tried. */
  readonly champion: Genome;
}

/** Draws of genomes, and of which member represents a species. */
const CHILD_STREAM = 16;
const SPECIES_STREAM = 17;

/** The first generation: all of the smallest form, with weights of their own. */
export function beginLineage(members: number, { ports, seed }: LineageRules): Lineage {
  const population = Array.from({ length: members }, (_, child) =>
    createGenome(ports, createChance({ seed, stream: CHILD_STREAM, generation: 0, child })),
  );
  return { generation: 0, population, division: NO_DIVISION, next: firstInnovations(ports) };
}

/** The next generation, by how this one did: `fitness` of each member, NaN of one that failed. */
export function advanceLineage(
  { generation, population, division, next }: Lineage,
  fitness: Float64Array,
  { ports, bounds, rates, seed }: LineageRules,
): Advance {
  const choice = createChance({ seed, stream: SPECIES_STREAM, generation, child: 0 });
  const divided = divide(division, population, generation, choice);
  const species = noteBest(divided.species, fitness, generation);
  const fertile = dropStagnant(species, fitness, generation);
  const innovations = beginInnovations(next);
  const chanceOf = (child: number) => createChance({ seed, stream: CHILD_STREAM, generation: generation + 1, child });
  const children = reproduce(fertile, population, fitness, { ports, bounds, rates, innovations, chanceOf });
  const threshold = moveThreshold({ threshold: divided.threshold, species });
  const best = rankMembers([...population.keys()], population, fitness)[0]!;
  return {
    lineage: {
      generation: generation + 1,
      population: children,
      division: { threshold, nextId: divided.nextId, species: fertile },
      next: innovations.next,
    },
    census: takeCensus(divided.threshold, species, fitness),
    champion: population[best]!,
  };
}

function takeCensus(threshold: number, species: readonly Species[], fitness: Float64Array): SpeciesCensus {
  const told = species.map((one) => ({ id: one.id, size: one.members.length, best: bestOf(one, fitness) }));
  const largest = told.toSorted((a, b) => b.size - a.size || a.id - b.id).slice(0, LIMITS.speciesTold);
  return {
    threshold,
    count: species.length,
    largest: largest.map((one) => ({ ...one, best: Number.isFinite(one.best) ? one.best : null })),
  };
}
