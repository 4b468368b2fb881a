import { createAdam } from "./adam.ts";
import { centreRanks } from "./rank-fitness.ts";
import { startPolicy } from "./start-policy.ts";
import { readVector } from "./strategy-state.ts";
import type { OpenStrategy } from "./strategy.ts";

/** By how much of itself a σ may change in one generation (Toklu, Liskowski and Srivastava, "ClipUp", PPSN 2020). */
const MOST_SIGMA_CHANGE = 0.2;

/**
 * Parameter-exploring policy gradients with symmetric samples (Sehnke et al., Neural Networks 23, 2010): mirrored
 * pairs round a mean, each parameter with a σ of its own. With z the noise before σ and u centred ranks, whose mean,
 * the baseline, is 0, the paper's slopes become σ · Σ u z / members for the mean, which is climbed by Adam, and
 * σ · Σ u (z² − 1) / members for σ, which goes by a rate of its own.
 */
export const openPgpe: OpenStrategy<{
  name: "pgpe";
  population: number;
  sigma: number;
  learningRate: number;
  sigmaLearningRate: number;
}> = async ({ algorithm, environment, network, population, seed, saved }) => {
  const { learningRate, sigmaLearningRate } = algorithm;
  const { parameters, members } = population;
  const mean = saved === null ? startPolicy(network, environment, seed) : readVector(saved, "mean", parameters);
  const sigma =
    saved === null ? new Float64Array(parameters).fill(algorithm.sigma) : readVector(saved, "sigma", parameters);
  const adam = createAdam(parameters, learningRate, saved);
  return {
    ask: (generation) =>
      population.perturb({
        seed,
        generation,
        mirrored: true,
        mean: Float32Array.from(mean),
        sigma: Float32Array.from(sigma),
      }),
    tell: async ({ generation, fitness }) => {
      // They add up to 0, so that z² − 1 and z² weigh the same.
      const utilities = Float32Array.from(centreRanks(fitness));
      const noise = { seed, generation, mirrored: true };
      const { sums, squares } = await population.recombine({ ...noise, utilities, squares: true });
      adam.climb(
        mean,
        Float64Array.from(sums, (sum, index) => (sigma[index]! * sum) / members),
      );
      for (const [index, square] of squares!.entries()) {
        const change = (sigmaLearningRate * square) / members;
        sigma[index]! *= 1 + Math.min(MOST_SIGMA_CHANGE, Math.max(-MOST_SIGMA_CHANGE, change));
      }
    },
    policy: async () => Float32Array.from(mean),
    save: async () => ({ mean: mean.slice(), sigma: sigma.slice(), ...adam.save() }),
  };
};
