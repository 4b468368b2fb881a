import { describe, expect, it } from "vitest";
import { xor } from "../../../../../kernels/environments/xor/xor.environment.ts";
import { countParameters } from "../../../../../kernels/rollout/policy-layout.ts";
import { rollOut } from "../../../../../kernels/rollout/roll-out.reference.ts";
import { openStrategy } from "../../../../../src/gpu-runner/training/open-strategy.ts";
import { allotChildren } from "../../../../../src/gpu-runner/training/species/reproduce.ts";
import { createChance, type Genome } from "../../../../../src/gpu-runner/training/species/genome.ts";
import { advanceLineage, beginLineage } from "../../../../../src/gpu-runner/training/species/lineage.ts";
import {
  divide,
  dropStagnant,
  moveThreshold,
  NO_DIVISION,
  noteBest,
  type Species,
} from "../../../../../src/gpu-runner/training/species/speciate.ts";
import type { StrategyState } from "../../../../../src/gpu-runner/training/strategy.ts";
import { Algorithm } from "../../../../../src/protocol/jobs/training.ts";
import { createArrayPopulation } from "../array-population.ts";

const chance = () => createChance({ seed: 1, stream: 1, generation: 0, child: 0 });
const alone = (weight: number): Genome => [{ innovation: 0, source: 0, target: 3, weight, enabled: true }];
const species = (id: number, members: readonly number[], rest: Partial<Species> = {}): Species => {
  return { id, members, representative: alone(id), best: Number.NEGATIVE_INFINITY, improvedAt: 0, ...rest };
};

describe("a division", () => {
  it("puts a genome into the first species that is near enough, or into one of its own", () => {
    // Weights differ by .4 of their distance: 1.7 is 4.25 away.
    const population = [0, 4, 5, 9, 20].map(alone);
    const first = divide(NO_DIVISION, population, 0, chance());
    expect(first.species.map(({ members }) => members)).toEqual([[0, 1], [2, 3], [4]]);
    expect(first.species.map(({ id }) => id)).toEqual([1, 2, 3]);
    const next = divide(first, [19, 21, 5.5].map(alone), 1, chance());
    expect(next.species.at(-1)).toMatchObject({ id: 3, members: [0, 1] });
    expect(next.species).toHaveLength(2);
    for (const { representative, members } of next.species)
      expect(members.map((member) => alone([19, 21, 5.5][member]!))).toContainEqual(representative);
  });

  it("moves the threshold towards five to ten species, from .1 to 3", () => {
    const moved = (threshold: number, count: number) =>
      moveThreshold({ threshold, species: Array.from({ length: count }, (_, id) => species(id, [id])) });
    expect([4, 5, 10, 11].map((count) => moved(1.7, count))).toEqual([1.6, 1.7, 1.7, 1.8]);
    expect([moved(0.1, 1), moved(3, 99)]).toEqual([0.1, 3]);
  });

  it("drops who has not improved for fifteen generations, but for the best two", () => {
    const fitness = Float64Array.of(1, 2, 3, 4);
    const noted = (generation: number) =>
      dropStagnant(
        noteBest(
          [0, 1, 2, 3].map((id) => species(id, [id], { best: [1, 2, 3, 3][id]! })),
          fitness,
          generation,
        ),
        fitness,
        generation,
      ).map(({ id }) => id);
    expect(noted(14)).toEqual([0, 1, 2, 3]);
    expect(noted(15)).toEqual([2, 3]);
  });
});

describe("children", () => {
  it("are allotted by shared fitness, all of them", () => {
    const fitness = Float64Array.of(4, 4, 4, 4, 8, 2);
    // Means: 4, 8 and 2.
    const groups = [species(1, [0, 1, 2, 3]), species(2, [4]), species(3, [5])];
    expect(allotChildren(groups, fitness, 14)).toEqual([4, 8, 2]);
    expect(allotChildren(groups, fitness, 15).reduce((sum, count) => sum + count)).toBe(15);
  });

  it("count from the lowest where fitness is below 0, and none for who failed", () => {
    const groups = [species(1, [0]), species(2, [1]), species(3, [2])];
    expect(allotChildren(groups, Float64Array.of(-200, -100, -150), 6)).toEqual([0, 4, 2]);
    expect(allotChildren(groups, Float64Array.of(Number.NaN, 1, 1), 6)).toEqual([0, 3, 3]);
    expect(allotChildren(groups, new Float64Array(3).fill(Number.NaN), 6)).toEqual([2, 2, 2]);
  });
});

describe("a lineage", () => {
  const rules = {
    ports: { inputs: 2, outputs: 1 },
    bounds: { hiddenNodes: 8, connections: 32 },
    rates: { addNode: 0.1, addConnection: 0.3, sigma: 0.5 },
    seed: 4,
  };

  it("keeps the best two of a species as they are, and has as many members as before", () => {
    const first = beginLineage(40, rules);
    const fitness = Float64Array.from({ length: 40 }, (_, member) => member);
    const { lineage, champion, census } = advanceLineage(first, fitness, rules);
    expect(champion).toBe(first.population[39]);
    expect(lineage.population).toHaveLength(40);
    expect(lineage.population).toContain(first.population[39]);
    expect(census.largest.reduce((sum, { size }) => sum + size, 0)).toBe(40);
    expect(Math.max(...census.largest.map(({ best }) => best!))).toBe(39);
  });

  it("lives on where all of a generation failed", () => {
    const { lineage, census } = advanceLineage(beginLineage(40, rules), new Float64Array(40).fill(Number.NaN), rules);
    expect(lineage.population).toHaveLength(40);
    expect(census.largest[0]!.best).toBeNull();
  });
});

const NETWORK = { kind: "graph", hiddenNodes: 8, connections: 32 } as const;

async function open(seed: number, saved: StrategyState | null, shuffled = false) {
  const algorithm = Algorithm.parse({ name: "species" });
  const key = { seed: 1, member: 0, episode: 0, commonRandom: true };
  const parameters = countParameters(NETWORK, xor);
  const rate = (row: Float32Array) => rollOut(xor, NETWORK, row, key).total;
  const { population } = createArrayPopulation(algorithm.population, parameters, rate);
  const context = { algorithm, environment: xor, network: NETWORK, population, seed, saved };
  const strategy = await openStrategy(context);
  async function live(generation: number): Promise<number> {
    await strategy.ask(generation);
    const { returns } = await population.evaluate({ seed: 1, firstEpisode: 0, episodes: 1, commonRandom: true });
    const fitness = Float64Array.from(returns);
    const told = shuffled
      ? fitness.map((_, member) => fitness[(member * 61 + generation * 17) % fitness.length]!)
      : fitness;
    await strategy.tell({ generation, fitness: told, measures: new Float64Array(0) });
    return rate(await strategy.policy());
  }
  return { strategy, live };
}

/** The highest fitness of a generation's champion. */
async function climb(seed: number, generations: number, enough: number, shuffled = false): Promise<number> {
  const { live } = await open(seed, null, shuffled);
  let best = 0;
  for (let generation = 0; generation < generations && best <= enough; generation++)
    best = Math.max(best, await live(generation));
  return best;
}

describe("species", () => {
  it("learn exclusive or", async () => {
    // Above 3.75 no single error can be as large as ½.
    for (const seed of [1, 2]) expect(await climb(seed, 100, 3.75)).toBeGreaterThan(3.75);
  });

  it("learn nothing from fitness that belongs to others", async () => {
    expect(await climb(1, 40, 3.75, true)).toBeLessThan(3.5);
  });

  it("go on from what was saved as if they had never stopped", async () => {
    const whole = await open(5, null);
    for (let generation = 0; generation < 8; generation++) await whole.live(generation);
    const half = await open(5, null);
    for (let generation = 0; generation < 4; generation++) await half.live(generation);
    const { strategy, live } = await open(5, await half.strategy.save());
    expect(await strategy.policy()).toEqual(await half.strategy.policy());
    for (let generation = 4; generation < 8; generation++) await live(generation);
    expect(await strategy.save()).toEqual(await whole.strategy.save());
    expect(strategy.takeCensus!()).toEqual(whole.strategy.takeCensus!());
  });

  it("refuse a state of another population", async () => {
    const { strategy, live } = await open(5, null);
    await live(0);
    const saved = { ...(await strategy.save()), population: new Float64Array(0) };
    await expect(open(5, saved)).rejects.toThrow("0 genomes of 'population', not 150");
  });
});
