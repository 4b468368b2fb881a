import { layOutPolicy } from "../../../kernels/rollout/policy-layout.ts";
import { createDraws, type Draws, multiplyHigh } from "../../stats/random/draws.ts";
import { orderMembers } from "./fitness.ts";
import { type OpenStrategy, readVector, type StrategyContext } from "./strategy.ts";

/** Random stream of tournaments. */
const TOURNAMENT_STREAM = 6;

/** Basis for the choice of parents. `fitness` is NaN for a member that failed. */
export interface Selection {
  readonly fitness: Float64Array;
  readonly seed: number;
  readonly generation: number;
  readonly elites: number;
  readonly tournament: number;
}

/**
 * Two parents for each member of a generation, pair by pair. The first members are copies of the fittest, best first.
 * Every other has two parents, each the fittest of `tournament` members drawn with replacement. Of equal members the
 * first is fitter, and a failed one is less fit than any other.
 */
export function chooseParents({ fitness, seed, generation, elites, tournament }: Selection): Uint32Array<ArrayBuffer> {
  const order = orderMembers(fitness);
  const ranks = new Uint32Array(order.length);
  for (const [rank, member] of order.entries()) ranks[member] = rank;
  const parents = new Uint32Array(2 * order.length);
  for (let child = 0; child < order.length; child++) {
    const draws = createDraws({ seed, stream: TOURNAMENT_STREAM, member: child, episode: generation, step: 0 });
    const [first, second] = child < elites ? [child, child] : holdTournaments(draws, ranks, tournament);
    parents.set([order[first]!, order[second]!], 2 * child);
  }
  return parents;
}

/** Best rank in each of two tournaments. */
function holdTournaments(draws: Draws, ranks: Uint32Array, tournament: number): readonly [number, number] {
  const best: [number, number] = [ranks.length - 1, ranks.length - 1];
  let words: readonly number[] = [];
  for (let draw = 0; draw < 2 * tournament; draw++) {
    if (draw % 4 === 0) words = draws.words();
    const parent = draw < tournament ? 0 : 1;
    best[parent] = Math.min(best[parent], ranks[multiplyHigh(words[draw % 4]!, ranks.length)]!);
  }
  return best;
}

interface GeneticAlgorithm {
  readonly name: "genetic";
  readonly population: number;
  readonly mutationRate: number;
  readonly sigma: number;
  readonly elites: number;
  readonly tournament: number;
}

/**
 * Genetic algorithm: tournaments choose parents, whose numbers are crossed uniformly and mutated by normal noise;
 * elites survive unchanged. Weights stay with the population; the host only chooses parents, by fitness.
 */
export const openGenetic: OpenStrategy<GeneticAlgorithm> = async ({ algorithm, population, seed, saved, ...form }) => {
  const { members, parameters } = population;
  const { mutationRate: rate, sigma, elites, tournament } = algorithm;
  let fitness: Float64Array<ArrayBuffer> | null = null;
  if (saved !== null) {
    fitness = readVector(saved, "fitness", members);
    await population.write(0, Float32Array.from(readVector(saved, "rows", members * parameters)));
  }
  const fittest = () => (fitness === null ? 0 : orderMembers(fitness)[0]!);
  return {
    async ask(generation) {
      if (fitness === null) {
        const mean = new Float32Array(parameters);
        return population.perturb({ seed, generation, mirrored: false, mean, sigma: startSpread(form, parameters) });
      }
      const parents = chooseParents({ fitness, seed, generation, elites, tournament });
      return population.breed({ seed, generation, parents, elites, rate, sigma });
    },
    async tell(results) {
      fitness = Float64Array.from(results.fitness);
    },
    policy: () => population.read(fittest(), 1),
    save: async () => ({ rows: await population.read(0, members), fitness: Float64Array.from(fitness ?? []) }),
  };
};

/**
 * Start deviation of each number of the first members: 1/√inputs of its layer, biases too.
 * Source: LeCun et al., "Efficient BackProp", 1998.
 */
function startSpread({ network, environment }: Pick<StrategyContext, "network" | "environment">, parameters: number) {
  if (network.kind === "graph") throw new TypeError("the numbers of a graph are not crossed one by one");
  const spread = new Float32Array(parameters);
  for (const { inputs, outputs, weightsAt, biasAt } of layOutPolicy(network, environment))
    spread.fill(1 / Math.sqrt(Math.max(1, inputs)), weightsAt, biasAt + outputs);
  return spread;
}
