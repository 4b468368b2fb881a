import { centreRanks } from "./fitness.ts";
import { startPolicy } from "./start-policy.ts";
import { type OpenStrategy, readVector, type StrategyState } from "./strategy.ts";

const FIRST_DECAY = 0.9;
const SECOND_DECAY = 0.999;
const EPSILON = 1e-8;

/** Gradient ascent on a vector. */
export interface Optimiser {
  /** Moves `vector` in place. */
  climb(vector: Float64Array, gradient: Float64Array): void;
  save(): StrategyState;
}

/**
 * Adam with its authors' constants, upwards.
 * Source: Kingma and Ba, ICLR 2015.
 */
function createAdam(length: number, learningRate: number, saved: StrategyState | null): Optimiser {
  const first = saved === null ? new Float64Array(length) : readVector(saved, "adamFirst", length);
  const second = saved === null ? new Float64Array(length) : readVector(saved, "adamSecond", length);
  const steps = saved === null ? new Float64Array(1) : readVector(saved, "adamSteps", 1);
  return {
    climb: (vector, gradient) => {
      const step = ++steps[0]!;
      const firstBias = 1 - FIRST_DECAY ** step;
      const secondBias = 1 - SECOND_DECAY ** step;
      for (const [index, slope] of gradient.entries()) {
        first[index] = FIRST_DECAY * first[index]! + (1 - FIRST_DECAY) * slope;
        second[index] = SECOND_DECAY * second[index]! + (1 - SECOND_DECAY) * slope ** 2;
        const size = Math.sqrt(second[index] / secondBias) + EPSILON;
        vector[index]! += (learningRate * (first[index] / firstBias)) / size;
      }
    },
    save: () => ({ adamFirst: first.slice(), adamSecond: second.slice(), adamSteps: steps.slice() }),
  };
}

/**
 * OpenAI evolution strategy: members are mirrored pairs around a mean. The gradient is estimated as Σ rank · ε /
 * (members · σ) with centred ranks, and followed by Adam. σ is constant, without weight decay.
 * Source: Salimans et al., "Evolution strategies as a scalable alternative to reinforcement learning", 2017.
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

/**
 * Largest relative change of a σ in one generation.
 * Source: Toklu, Liskowski and Srivastava, "ClipUp", PPSN 2020.
 */
const MOST_SIGMA_CHANGE = 0.2;

/**
 * Parameter-exploring policy gradients with symmetric samples: mirrored pairs around a mean, with a σ for each
 * parameter. Let z be the noise before σ, and u centred ranks, whose mean, the baseline, is 0. The paper's gradients
 * become σ · Σ u z / members for the mean, which Adam follows, and σ · Σ u (z² − 1) / members for σ, which has a
 * learning rate of its own.
 * Source: Sehnke et al., Neural Networks 23, 2010.
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
      // They add up to 0, so that z² − 1 and z² give the same sum.
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
