import { factorCholesky, solveLower, solveUpper } from "../../../stats/cholesky.ts";
import type { Point } from "./encode-candidates.ts";

/** One measurement at a point. */
export interface Observation {
  readonly point: number;
  readonly value: number;
}

/** Expected value at a point and its uncertainty, without the noise of measuring. */
export interface Estimate {
  readonly mean: number;
  readonly sd: number;
}

export interface FittedSurface {
  readonly estimate: (point: number) => Estimate;
  /** Standard deviation of one measurement. */
  readonly noise: number;
}

/**
 * Prior standard deviations of a logarithm: the level, a category or a whole axis, a bend, and an interaction of two.
 */
const PRIOR = { level: 10, main: 1.5, bend: 1, together: 0.7 } as const;
/** Distance of points whose category differs, and length scale of the residual beyond the features. */
const MISMATCH = 0.7;
const REACH = 0.7;

/** Grid for maximum likelihood: scales of the features, of the residual and of the noise. */
const SCALES = [0.4, 1.2];
const MISSED = [0.05, 0.15, 0.45];
const NOISES = [0.01, 0.03, 0.08, 0.2, 0.4];
/** Prior of the noise: a service varies by some per cent unless the data show otherwise. */
const EXPECTED_NOISE = { log: Math.log(0.04), sd: 1 };
/** Fewest observations from which more than the level can be learnt. */
const FEWEST_CHOOSING = 4;
/** Observations above which the choice is clear and repeating it would be slow. */
const MOST_CHOOSING = 96;

interface Hyper {
  readonly scale: number;
  readonly missed: number;
  readonly noise: number;
}

const UNMEASURED: Hyper = { scale: 1.2, missed: 0.15, noise: 0.03 };

/**
 * Quantity over the points of a space, learnt by Bayesian linear regression with a Gaussian process for the residual.
 * This equals one Gaussian process with both covariances.
 * The three scales have the highest marginal likelihood (5.4.1) on a coarse grid.
 * Source: Rasmussen and Williams, Gaussian Processes for Machine Learning, 2006, 2.1 and 2.7.
 */
export class Surface {
  readonly #covariances: PointCovariances;
  #hyper = UNMEASURED;

  constructor(covariances: PointCovariances) {
    this.#covariances = covariances;
  }

  fit(observations: readonly Observation[]): FittedSurface {
    const seen = observations.map(({ point }) => this.#covariances.of(point));
    const triangle = (of: (each: Covariances) => Float64Array) =>
      seen.map((each, i) => observations.slice(0, i + 1).map(({ point }) => of(each)[point]!));
    const linear = triangle((each) => each.linear);
    const local = triangle((each) => each.local);
    const values = observations.map(({ value }) => value);
    if (observations.length >= FEWEST_CHOOSING && observations.length <= MOST_CHOOSING) {
      this.#hyper = chooseHyper(linear, local, values);
    }
    const hyper = this.#hyper;
    const { factor, weights } = solve(linear, local, values, hyper);
    const estimate = (point: number): Estimate => {
      const at = ({ linear: l, local: m }: Covariances) => combine(l[point]!, m[point]!, hyper);
      const covariances = Float64Array.from(seen, at);
      const explained = solveLower(factor, covariances);
      const variance = at(this.#covariances.withItself) - dot(explained, explained);
      return { mean: dot(covariances, weights), sd: Math.sqrt(Math.max(0, variance)) };
    };
    return { estimate, noise: hyper.noise };
  }
}

/** Covariances of a point with every point: by the linear features, and by nearness. */
interface Covariances {
  readonly linear: Float64Array;
  readonly local: Float64Array;
}

/** Covariances of a space's points, computed on demand and shared by several surfaces. */
export class PointCovariances {
  readonly #points: readonly Point[];
  readonly #known = new Map<number, Covariances>();
  /** Covariance of each point with itself. */
  readonly withItself: Covariances;

  constructor(points: readonly Point[]) {
    this.#points = points;
    this.withItself = {
      linear: Float64Array.from(points, (point) => featureCovariance(point, point)),
      local: Float64Array.from(points, (point) => nearness(point, point)),
    };
  }

  of(point: number): Covariances {
    const known = this.#known.get(point);
    if (known !== undefined) return known;
    const own = this.#points[point]!;
    const covariances = {
      linear: Float64Array.from(this.#points, (other) => featureCovariance(own, other)),
      local: Float64Array.from(this.#points, (other) => nearness(own, other)),
    };
    this.#known.set(point, covariances);
    return covariances;
  }
}

function chooseHyper(linear: readonly number[][], local: readonly number[][], values: readonly number[]): Hyper {
  let best = { hyper: UNMEASURED, likelihood: Number.NEGATIVE_INFINITY };
  for (const scale of SCALES) {
    for (const missed of MISSED) {
      for (const noise of NOISES) {
        const hyper = { scale, missed, noise };
        const { likelihood } = solve(linear, local, values, hyper);
        if (likelihood > best.likelihood) best = { hyper, likelihood };
      }
    }
  }
  return best.hyper;
}

/**
 * Regression with the log likelihood, including the prior of the noise.
 * Source: Rasmussen and Williams, algorithm 2.1.
 */
function solve(
  linear: readonly (readonly number[])[],
  local: readonly (readonly number[])[],
  values: readonly number[],
  hyper: Hyper,
) {
  const covariance = linear.map((row, i) =>
    row.map((value, j) => combine(value, local[i]![j]!, hyper) + (i === j ? hyper.noise ** 2 : 0)),
  );
  const factor = factorCholesky(covariance);
  // The noise on the diagonal keeps it positive definite.
  if (factor === null) throw new RangeError("the covariance is not positive definite");
  const half = solveLower(factor, values);
  const surprise = (Math.log(hyper.noise) - EXPECTED_NOISE.log) / EXPECTED_NOISE.sd;
  const likelihood =
    -dot(half, half) / 2 - factor.reduce((sum, row, i) => sum + Math.log(row[i]!), 0) - surprise ** 2 / 2;
  return { factor, weights: solveUpper(factor, half), likelihood };
}

function combine(linear: number, local: number, { scale, missed }: Hyper): number {
  return PRIOR.level ** 2 + scale ** 2 * linear + missed ** 2 * local;
}

/**
 * Covariance of the linear features, each with a weight of its own.
 * Features are axes, their squares, products of two axes, and an offset and slopes for every category level.
 */
function featureCovariance(a: Point, b: Point): number {
  let sum = 0;
  for (const [i, x] of a.axes.entries()) {
    const product = (x - 0.5) * (b.axes[i]! - 0.5);
    sum += PRIOR.main ** 2 * product + PRIOR.bend ** 2 * bend(x) * bend(b.axes[i]!);
    for (let j = 0; j < i; j++) sum += (4 * PRIOR.together) ** 2 * product * (a.axes[j]! - 0.5) * (b.axes[j]! - 0.5);
  }
  for (const [i, level] of a.levels.entries()) {
    if (level !== b.levels[i]) continue;
    sum += PRIOR.main ** 2;
    for (const [j, x] of a.axes.entries()) {
      sum += (2 * PRIOR.together) ** 2 * (x - 0.5) * (b.axes[j]! - 0.5);
      sum += PRIOR.together ** 2 * bend(x) * bend(b.axes[j]!);
    }
    for (let j = 0; j < i; j++) if (a.levels[j] === b.levels[j]) sum += PRIOR.together ** 2;
  }
  return sum;
}

/** Bend of an axis: −1/2 in the middle and 1/2 at its ends. */
function bend(x: number): number {
  return 4 * (x - 0.5) ** 2 - 0.5;
}

/**
 * Matérn covariance of ν = 5/2.
 * Source: Rasmussen and Williams, 4.17.
 */
function nearness(a: Point, b: Point): number {
  const mismatches = a.levels.filter((level, i) => level !== b.levels[i]).length;
  const apart = a.axes.reduce((sum, value, i) => sum + (value - b.axes[i]!) ** 2, 0);
  const r = (Math.sqrt(5) * Math.sqrt(apart + MISMATCH ** 2 * mismatches)) / REACH;
  return (1 + r + (r * r) / 3) * Math.exp(-r);
}

function dot(a: Float64Array, b: Float64Array): number {
  let sum = 0;
  for (let i = 0; i < a.length; i++) sum += a[i]! * b[i]!;
  return sum;
}
