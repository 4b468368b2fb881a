import { drawNoise } from "../../../kernels/rollout/noise.reference.ts";
import { factorCholesky } from "../../stats/cholesky.ts";
import { readVector } from "./strategy.ts";
import { areSpent, type CovarianceSearch, type SearchStart } from "./sep-cma-es.ts";

/**
 * Distribution with a full covariance matrix, moved as in CMA-ES by any number of parents. Its root is a Cholesky
 * factor, so that the path of σ is that of the draws themselves. Members are made on the host: for few parameters.
 * Source: Hansen, "The CMA evolution strategy: a tutorial", 2016; Krause, Arbonès and Igel 2016 (Cholesky).
 */
export function openFullSearch({ population, seed, sigma: startSigma, mean, saved }: SearchStart): CovarianceSearch {
  const { parameters: n, members } = population;
  const vector = (name: string, length: number) =>
    saved === null ? new Float64Array(length) : readVector(saved, name, length);
  const means = saved === null ? mean.slice() : readVector(saved, "mean", n);
  /** Step size, and generations since the last start. */
  const sizes = saved === null ? Float64Array.of(startSigma, 0) : readVector(saved, "sizes", 2);
  const covariance = vector("covariance", n * n);
  const sigmaPath = vector("sigmaPath", n);
  const covariancePath = vector("covariancePath", n);
  const rowOf = (index: number) => covariance.subarray(index * n, (index + 1) * n);
  const resetCovariance = () => {
    covariance.fill(0);
    for (let index = 0; index < n; index++) covariance[index * n + index] = 1;
  };
  if (saved === null) resetCovariance();
  let root = factor();

  function factor(): Float64Array[] | null {
    return factorCholesky(Array.from({ length: n }, (_, index) => [...rowOf(index)]));
  }

  const noiseOf = (generation: number, member: number) => drawNoise({ seed, generation, mirrored: false }, member, n);

  return {
    async ask(generation) {
      const rows = new Float32Array(members * n);
      for (let member = 0; member < members; member++) {
        const step = multiplyLower(root!, noiseOf(generation, member));
        for (const [index, value] of step.entries()) rows[member * n + index] = means[index]! + sizes[0]! * value;
      }
      await population.write(0, rows);
    },
    async tell(generation, parents) {
      const { weights, muEff, cSigma, dSigma, cC, c1, cMu, chiN } = deriveCma(n, parents.length);
      const steps = Array.from(parents, (parent) => noiseOf(generation, parent));
      const draw = weigh(steps, weights, n);
      const moves = steps.map((step) => multiplyLower(root!, step));
      const move = weigh(moves, weights, n);
      let length = 0;
      for (let index = 0; index < n; index++) {
        means[index]! += sizes[0]! * move[index]!;
        sigmaPath[index] = (1 - cSigma) * sigmaPath[index]! + Math.sqrt(cSigma * (2 - cSigma) * muEff) * draw[index]!;
        length += sigmaPath[index]! ** 2;
      }
      length = Math.sqrt(length);
      sizes[1]!++;
      const known = Math.sqrt(1 - (1 - cSigma) ** (2 * sizes[1]!));
      const steady = length / known < (1.4 + 2 / (n + 1)) * chiN ? 1 : 0;
      for (let index = 0; index < n; index++) {
        covariancePath[index] =
          (1 - cC) * covariancePath[index]! + steady * Math.sqrt(cC * (2 - cC) * muEff) * move[index]!;
      }
      // Compensates a stalled path, so that variances do not shrink.
      const keep = 1 - c1 - cMu + (1 - steady) * c1 * cC * (2 - cC);
      for (let i = 0; i < n; i++) {
        const row = rowOf(i);
        for (let j = 0; j <= i; j++) {
          let ranks = 0;
          for (const [rank, weight] of weights.entries()) ranks += weight * moves[rank]![i]! * moves[rank]![j]!;
          row[j] = keep * row[j]! + c1 * covariancePath[i]! * covariancePath[j]! + cMu * ranks;
          covariance[j * n + i] = row[j]!;
        }
      }
      sizes[0]! *= Math.exp(Math.min(1, (cSigma / dSigma) * (length / chiN - 1)));
      root = factor();
    },
    restart(next) {
      means.set(next);
      sizes.set([startSigma, 0]);
      resetCovariance();
      sigmaPath.fill(0);
      covariancePath.fill(0);
      root = factor();
    },
    isSpent: () =>
      root === null ||
      areSpent(
        Float64Array.from(root, (row, index) => row[index]! ** 2),
        sizes[0]!,
        startSigma,
      ),
    save: () => ({
      mean: means.slice(),
      sizes: sizes.slice(),
      covariance: covariance.slice(),
      sigmaPath: sigmaPath.slice(),
      covariancePath: covariancePath.slice(),
    }),
  };
}

/** Constants of the tutorial's table 1 for this many parents, with its names. */
function deriveCma(n: number, parents: number) {
  const raw = Float64Array.from({ length: parents }, (_, index) => Math.log(parents + 0.5) - Math.log(index + 1));
  const total = raw.reduce((sum, weight) => sum + weight, 0);
  const weights = raw.map((weight) => weight / total);
  const muEff = 1 / weights.reduce((sum, weight) => sum + weight ** 2, 0);
  const cSigma = (muEff + 2) / (n + muEff + 5);
  const c1 = 2 / ((n + 1.3) ** 2 + muEff);
  return {
    weights,
    muEff,
    cSigma,
    dSigma: 1 + 2 * Math.max(0, Math.sqrt((muEff - 1) / (n + 1)) - 1) + cSigma,
    cC: (4 + muEff / n) / (n + 4 + (2 * muEff) / n),
    c1,
    cMu: Math.min(1 - c1, (2 * (muEff - 2 + 1 / muEff)) / ((n + 2) ** 2 + muEff)),
    chiN: Math.sqrt(n) * (1 - 1 / (4 * n) + 1 / (21 * n ** 2)),
  };
}

function multiplyLower(root: readonly Float64Array[], vector: Float64Array): Float64Array {
  return Float64Array.from(root, (row) => row.reduce((sum, value, index) => sum + value * vector[index]!, 0));
}

function weigh(vectors: readonly Float64Array[], weights: Float64Array, n: number): Float64Array {
  const sum = new Float64Array(n);
  for (const [rank, vector] of vectors.entries()) {
    for (let index = 0; index < n; index++) sum[index]! += weights[rank]! * vector[index]!;
  }
  return sum;
}
