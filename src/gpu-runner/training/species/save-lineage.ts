import type { StrategyState } from "../strategy.ts";
import type { Gene, Genome } from "./genome.ts";
import type { Lineage } from "./lineage.ts";

/** A generation that was made, and the fittest of the one before. */
export interface KeptLineage {
  readonly lineage: Lineage;
  readonly champion: Genome;
}

/** All of it as arrays of numbers, but for the members of species: the next division makes them anew. */
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

/** What was saved of a population of so many. Throws a `RangeError` where it is something else. */
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

/** Each genome as the number of its genes, then five numbers of each. */
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
