import type { SpeciesCensus } from "../../../protocol/jobs/training.ts";
import { LIMITS } from "../../../protocol/wire/limits.ts";
import type { StrategyState } from "../strategy.ts";
import { createChance, type Gene, type Genome, type Ports } from "./genome.ts";
import { beginInnovations, type Bounds, createGenome, firstInnovations, type Innovations } from "./innovate.ts";
import { rankMembers, reproduce } from "./reproduce.ts";
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
import type { MutationRates } from "./vary-genome.ts";

/** Generation that has not been evaluated yet, with all state of the next. */
export interface Lineage {
  readonly generation: number;
  readonly population: readonly Genome[];
  readonly division: Division;
  readonly next: Innovations["next"];
}

/** Constants of a lineage. */
export interface LineageRules {
  readonly ports: Ports;
  readonly bounds: Bounds;
  readonly rates: MutationRates;
  readonly seed: number;
}

/** Outcome of a generation. */
export interface Advance {
  readonly lineage: Lineage;
  readonly census: SpeciesCensus;
  /** Fittest member of the evaluated generation. */
  readonly champion: Genome;
}

/** Random streams of genomes, and of each species' representative. */
const CHILD_STREAM = 16;
const SPECIES_STREAM = 17;

/** First generation: all of the smallest form, with different weights. */
export function beginLineage(members: number, { ports, seed }: LineageRules): Lineage {
  const population = Array.from({ length: members }, (_, child) =>
    createGenome(ports, createChance({ seed, stream: CHILD_STREAM, generation: 0, child })),
  );
  return { generation: 0, population, division: NO_DIVISION, next: firstInnovations(ports) };
}

/** Next generation; `fitness` of each member is NaN for one that failed. */
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
  const counts = species.map((one) => ({ id: one.id, size: one.members.length, best: bestOf(one, fitness) }));
  const largest = counts.toSorted((a, b) => b.size - a.size || a.id - b.id).slice(0, LIMITS.speciesTold);
  return {
    threshold,
    count: species.length,
    largest: largest.map((one) => ({ ...one, best: Number.isFinite(one.best) ? one.best : null })),
  };
}

/** New generation, and the fittest member of the previous one. */
export interface KeptLineage {
  readonly lineage: Lineage;
  readonly champion: Genome;
}

/** Lineage as arrays of numbers, without the members of species: the next division finds them again. */
export function saveLineage({ lineage, champion }: KeptLineage): StrategyState {
  const { generation, population, division, next } = lineage;
  const { threshold, nextId, species } = division;
  return {
    counters: Float64Array.of(generation, threshold, nextId, next.innovation, next.node),
    population: writeGenomes(population),
    champion: writeGenomes([champion]),
    representatives: writeGenomes(species.map(({ representative }) => representative)),
    species: Float64Array.from(species.flatMap(({ id, best, improvedAt }) => [id, best, improvedAt])),
  };
}

/** Restores a saved lineage for this many members. Throws a `RangeError` for other data. */
export function restoreLineage(saved: StrategyState, members: number): KeptLineage {
  const population = readGenomes(saved["population"]);
  const [champion] = readGenomes(saved["champion"]);
  if (population.length !== members || champion === undefined)
    throw new RangeError(`the saved state has ${population.length} genomes of 'population', not ${members}`);
  const [generation = 0, threshold = 0, nextId = 0, innovation = 0, node = 0] = saved["counters"] ?? [];
  const species = readGenomes(saved["representatives"]).map((representative, index) => {
    const [id = 0, best = 0, improvedAt = 0] = saved["species"]?.subarray(3 * index) ?? [];
    return { id, representative, members: [], best, improvedAt };
  });
  const division = { threshold, nextId, species };
  return { lineage: { generation, population, division, next: { innovation, node } }, champion };
}

/** Writes each genome as the number of its genes, then five numbers of each. */
function writeGenomes(genomes: readonly Genome[]): Float64Array<ArrayBuffer> {
  return Float64Array.from(
    genomes.flatMap((genome) => [
      genome.length,
      ...genome.flatMap((gene) => [gene.innovation, gene.source, gene.target, gene.weight, Number(gene.enabled)]),
    ]),
  );
}

function readGenomes(numbers: ArrayLike<number> = []): Genome[] {
  const genomes: Genome[] = [];
  for (let at = 0; at < numbers.length;) {
    const genes: Gene[] = [];
    const end = at + 1 + 5 * numbers[at]!;
    for (at++; at < end; at += 5) {
      const [innovation = 0, source = 0, target = 0, weight = 0, enabled = 0] = Array.from(
        { length: 5 },
        (_, index) => numbers[at + index],
      );
      genes.push({ innovation, source, target, weight, enabled: enabled === 1 });
    }
    genomes.push(genes);
  }
  return genomes;
}
