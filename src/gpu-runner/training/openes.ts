import { createAdam } from "./adam.ts";
import { startPolicy } from "./start-policy.ts";
import { centreRanks } from "./rank-fitness.ts";
import { readVector } from "./strategy-state.ts";
import type { OpenStrategy } from "./strategy.ts";

/**
 * The evolution strategy of Salimans et al. ("Evolution strategies as a scalable alternative to reinforcement
 * learning", 2017): members are mirrored pairs round a mean, whose slope is estimated as Σ rank · ε / (members · σ)
 * with centred ranks and climbed by Adam. σ stays, and weights do not decay.
 */
export const openOpenes: OpenStrategy<{
  name: "openes";
  population: number;
  sigma: number;
  learningRate: number;
}> = async ({ algorithm: { sigma, learningRate }, environment, network, population, seed, saved }) => {
  const { parameters, members } = population;
  const mean = saved === null ? startPolicy(network, environment, seed) : readVector(saved, "mean", parameters);
  const spread = new Float32Array(parameters).fill(sigma);
  const adam = createAdam(parameters, learningRate, saved);
  return {
    ask: (generation) =>
      population.perturb({ seed, generation, mirrored: true, mean: Float32Array.from(mean), sigma: spread }),
    tell: async ({ generation, fitness }) => {
      const utilities = Float32Array.from(centreRanks(fitness));
      const { sums } = await population.recombine({ seed, generation, mirrored: true, utilities, squares: false });
      adam.climb(
        mean,
        Float64Array.from(sums, (sum) => sum / (members * sigma)),
      );
    },
    policy: async () => Float32Array.from(mean),
    save: async () => ({ mean: mean.slice(), ...adam.save() }),
  };
};
