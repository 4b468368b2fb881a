import type { Population } from "../rollout/population.ts";
import { orderMembers } from "./fitness.ts";
import { startPolicy } from "./start-policy.ts";
import { type OpenStrategy, readVector, type StrategyState } from "./strategy.ts";

/** Normal distribution of the members, moved by the best of them. */
export interface CovarianceSearch {
  /** Makes the members of a generation. */
  ask(generation: number): Promise<void>;
  /** Moves towards members of the last generation, best first; at least one. */
  tell(generation: number, parents: Uint32Array): Promise<void>;
  /** Restarts around another mean. */
  restart(mean: Float64Array): void;
  /** Whether steps have become too small, too large or too uneven to continue. */
  isSpent(): boolean;
  /** Copies of the state. */
  save(): StrategyState;
}

/**
 * Limits of the step size relative to the first, and of variances relative to each other; beyond them a search is
 * exhausted.
 */
const SMALLEST_STEP = 1e-11;
const LARGEST_STEP = 1e4;
const LARGEST_CONDITION = 1e14;

/**
 * Whether a search with this step size and these variances is exhausted.
 * Source: tolerances of Hansen's tutorial, 2016, B.3.
 */
export function areSpent(variances: Float64Array, sigma: number, startSigma: number): boolean {
  let [least, most] = [Number.POSITIVE_INFINITY, 0];
  for (const variance of variances) {
    least = Math.min(least, variance);
    most = Math.max(most, variance);
  }
  const step = (sigma * Math.sqrt(most)) / startSigma;
  return !(step > SMALLEST_STEP && step < LARGEST_STEP && most < LARGEST_CONDITION * least);
}

/** Constants that depend on the numbers of parameters and members; names as in the paper. */
export interface SepCmaConstants {
  /** Weights of the best members, best first; they add up to 1. */
  readonly weights: Float64Array;
  /** Effective number of members of the weights. */
  readonly muEff: number;
  readonly cSigma: number;
  readonly dSigma: number;
  readonly cC: number;
  readonly cCov: number;
  /** Expected length of a standard normal vector. */
  readonly chiN: number;
}

/**
 * Standard constants, where cCov is that of CMA-ES times (n + 2) / 3, and at most 1, which matters only for few
 * parameters.
 * Source: Ros and Hansen, "A simple modification in CMA-ES achieving linear time and space complexity", PPSN 2008.
 */
export function deriveSepCma(parameters: number, members: number): SepCmaConstants {
  const n = parameters;
  const mu = Math.floor(members / 2);
  const raw = Float64Array.from({ length: mu }, (_, index) => Math.log(mu + 1) - Math.log(index + 1));
  const total = raw.reduce((sum, weight) => sum + weight, 0);
  const weights = raw.map((weight) => weight / total);
  const muEff = 1 / weights.reduce((sum, weight) => sum + weight ** 2, 0);
  const cSigma = (muEff + 2) / (n + muEff + 3);
  const full =
    2 / (muEff * (n + Math.SQRT2) ** 2) + (1 - 1 / muEff) * Math.min(1, (2 * muEff - 1) / ((n + 2) ** 2 + muEff));
  return {
    weights,
    muEff,
    cSigma,
    dSigma: 1 + 2 * Math.max(0, Math.sqrt((muEff - 1) / (n + 1)) - 1) + cSigma,
    cC: 4 / (n + 4),
    cCov: Math.min(1, (full * (n + 2)) / 3),
    chiN: Math.sqrt(n) * (1 - 1 / (4 * n) + 1 / (21 * n ** 2)),
  };
}

/** Start of a search: its first mean, or its saved state. */
export interface SearchStart {
  readonly population: Population;
  readonly seed: number;
  readonly sigma: number;
  readonly mean: Float64Array;
  readonly saved: StrategyState | null;
}

/**
 * Distribution with a diagonal covariance, moved as in sep-CMA-ES by any number of parents; the population draws and
 * sums in place.
 * Source: Ros and Hansen 2008.
 */
export function openSeparableSearch({
  population,
  seed,
  sigma: startSigma,
  mean,
  saved,
}: SearchStart): CovarianceSearch {
  const { parameters, members } = population;
  const vector = (name: string, initial: number, length = parameters) =>
    saved === null ? new Float64Array(length).fill(initial) : readVector(saved, name, length);
  const means = saved === null ? mean.slice() : readVector(saved, "mean", parameters);
  /** Overall step size, and generations since the last start, each alone in a vector. */
  const sigma = vector("sigma", startSigma, 1);
  const age = vector("age", 0, 1);
  const variances = vector("variances", 1);
  const sigmaPath = vector("sigmaPath", 0);
  const covariancePath = vector("covariancePath", 0);
  return {
    ask: (generation) =>
      population.perturb({
        seed,
        generation,
        mirrored: false,
        mean: Float32Array.from(means),
        sigma: Float32Array.from(variances, (variance) => sigma[0]! * Math.sqrt(variance)),
      }),
    async tell(generation, parents) {
      const { weights, muEff, cSigma, dSigma, cC, cCov, chiN } = deriveSepCma(parameters, 2 * parents.length);
      const utilities = new Float32Array(members);
      for (const [rank, parent] of parents.entries()) utilities[parent] = weights[rank]!;
      const noise = { seed, generation, mirrored: false };
      const { sums, squares } = await population.recombine({ ...noise, utilities, squares: true });
      let length = 0;
      for (const [index, z] of sums.entries()) {
        means[index]! += sigma[0]! * Math.sqrt(variances[index]!) * z;
        sigmaPath[index] = (1 - cSigma) * sigmaPath[index]! + Math.sqrt(cSigma * (2 - cSigma) * muEff) * z;
        length += sigmaPath[index] ** 2;
      }
      length = Math.sqrt(length);
      age[0]!++;
      const known = Math.sqrt(1 - (1 - cSigma) ** (2 * age[0]!));
      const steady = length / known < (1.4 + 2 / (parameters + 1)) * chiN;
      for (const [index, z] of sums.entries()) {
        const variance = variances[index]!;
        const step = steady ? Math.sqrt(cC * (2 - cC) * muEff) * Math.sqrt(variance) * z : 0;
        covariancePath[index] = (1 - cC) * covariancePath[index]! + step;
        variances[index] =
          (1 - cCov) * variance +
          (cCov / muEff) * covariancePath[index] ** 2 +
          cCov * (1 - 1 / muEff) * variance * squares![index]!;
      }
      sigma[0]! *= Math.exp((cSigma / dSigma) * (length / chiN - 1));
    },
    restart(next) {
      means.set(next);
      sigma[0] = startSigma;
      age[0] = 0;
      variances.fill(1);
      sigmaPath.fill(0);
      covariancePath.fill(0);
    },
    isSpent: () => areSpent(variances, sigma[0]!, startSigma),
    save: () => ({
      mean: means.slice(),
      sigma: sigma.slice(),
      age: age.slice(),
      variances: variances.slice(),
      sigmaPath: sigmaPath.slice(),
      covariancePath: covariancePath.slice(),
    }),
  };
}

/**
 * CMA-ES with a diagonal covariance; of equal members the first counts as better.
 * Source: Ros and Hansen 2008.
 */
export const openSepCmaEs: OpenStrategy<{ name: "sep-cma-es"; population: number; sigma: number }> = async ({
  algorithm,
  environment,
  network,
  population,
  seed,
  saved,
}) => {
  const { sigma } = algorithm;
  const mean = startPolicy(network, environment, seed);
  const search = openSeparableSearch({ population, seed, sigma, mean, saved });
  return {
    ask: (generation) => search.ask(generation),
    tell: ({ generation, fitness }) =>
      search.tell(generation, orderMembers(fitness).subarray(0, Math.floor(population.members / 2))),
    policy: async () => Float32Array.from(search.save()["mean"]!),
    save: async () => search.save(),
  };
};
