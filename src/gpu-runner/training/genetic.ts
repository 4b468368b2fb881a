import { layOutPolicy } from "../../../kernels/rollout/policy-layout.ts";
import { chooseParents } from "./choose-parents.ts";
import { orderMembers } from "./rank-fitness.ts";
import { readVector } from "./strategy-state.ts";
import type { OpenStrategy, StrategyContext } from "./strategy.ts";

interface GeneticAlgorithm {
  readonly name: "genetic";
  readonly population: number;
  readonly mutationRate: number;
  readonly sigma: number;
  readonly elites: number;
  readonly tournament: number;
}

/**
 * A genetic algorithm: tournaments choose parents, whose numbers are crossed uniformly and mutated by normal noise; the
 * elites live on as they are. Weights stay where the population is; fitness alone decides, on the host, whose they are.
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
    async tell(told) {
      fitness = Float64Array.from(told.fitness);
    },
    policy: () => population.read(fittest(), 1),
    save: async () => ({ rows: await population.read(0, members), fitness: Float64Array.from(fitness ?? []) }),
  };
};

/** Of each number of the first members: 1/√inputs of its layer (LeCun et al., "Efficient BackProp", 1998), biases too. */
function startSpread({ network, environment }: Pick<StrategyContext, "network" | "environment">, parameters: number) {
  if (network.kind === "graph") throw new TypeError("the numbers of a graph are not crossed one by one");
  const spread = new Float32Array(parameters);
  for (const { inputs, outputs, weightsAt, biasAt } of layOutPolicy(network, environment))
    spread.fill(1 / Math.sqrt(Math.max(1, inputs)), weightsAt, biasAt + outputs);
  return spread;
}
