import type { OptimisationTrial } from "../../../protocol/jobs/optimisation.ts";
import { philox4x32 } from "../../../stats/random/draws.ts";
import { chanceBelowZero, CostModel, expectedImprovement, type FittedModel, type Forecast } from "./cost-model.ts";
import { findNeighbours } from "./encode-candidates.ts";
import type { SearchProblem } from "./search-problem.ts";
import type { Estimate } from "./surface.ts";
import type { OpenTrial, TrialLog } from "./trial-log.ts";

/** Least expected improvement, as a share, that is worth a trial. */
const LEAST_GAIN = 0.002;
/** Least expected objective of an untried neighbour, as a share of the best's. */
const BESIDE = 0.4;
/** Least chance of working, and for neighbours of reaching the targets, for a trial. */
const LEAST_CHANCE = 0.1;
/**
 * Rounds of rivals before one of them is the best; a best without rivals has its own number, since one measurement may
 * flatter it.
 */
export const RIVAL_ROUNDS = 3;
const ROUNDS_ALONE = 2;
/** Largest distance of a rival from the best, in multiples of the noise of a difference. */
const RIVALRY = 1.5 * Math.SQRT2;

/** Picks the next candidate to measure, by a cost model of the measurements so far. */
export class CandidatePicker {
  readonly #problem: SearchProblem;
  readonly #log: TrialLog;
  readonly #model: CostModel;
  /** Candidates in an order drawn from the seed, which breaks ties. */
  readonly #order: readonly number[];
  #fitted: { readonly done: number; readonly model: FittedModel } | null = null;

  constructor(problem: SearchProblem, log: TrialLog) {
    const { candidates, targets, inFlight, eligible, seed } = problem;
    this.#problem = problem;
    this.#log = log;
    this.#model = new CostModel(candidates, targets, inFlight);
    this.#order = shuffle(eligible, seed);
  }

  predict(candidate: number): OptimisationTrial["predicted"] {
    const { throughputPerS, latencyMs } = this.#fit().forecast(candidate);
    return { throughputPerS: Math.exp(throughputPerS.mean), latencyMs: Math.exp(latencyMs.mean) };
  }

  /** The pick of the first of these phases that has a candidate to measure. */
  pickFirst(phases: readonly ("search" | "confirm")[]): { candidate: number; phase: "search" | "confirm" } | null {
    for (const phase of phases) {
      const candidate = phase === "search" ? this.pickPromising() : this.pickRival();
      if (candidate !== null) return { candidate, phase };
    }
    return null;
  }

  /**
   * The candidate with the most uncertain throughput: a maximum-entropy design.
   * Source: Shewry and Wynn, 1987.
   */
  pickUnknown(): number | null {
    return this.#pick((forecast) => forecast.throughputPerS.sd * forecast.works, 0);
  }

  /** The most promising candidate; if none promises enough, an untried neighbour of the best. */
  pickPromising(): number | null {
    const standard = this.#standard();
    if (standard === null) return this.#pick(({ works }) => works, 0);
    const promising = this.#pick((forecast) => {
      const { estimate, chance } = this.#promise(forecast, standard.isFeasible);
      return forecast.works < LEAST_CHANCE ? 0 : expectedImprovement(estimate, standard.value) * chance;
    }, LEAST_GAIN);
    if (promising !== null) return promising;
    const { candidates } = this.#problem;
    const beside = new Set(findNeighbours(candidates, candidates[standard.candidate]!));
    return this.#pick((forecast, candidate) => {
      const { estimate, chance } = this.#promise(forecast, standard.isFeasible);
      return beside.has(candidate) && chance > LEAST_CHANCE ? Math.exp(estimate.mean - standard.value) : 0;
    }, BESIDE);
  }

  /**
   * The least measured rival: a candidate that noise cannot separate from the best; null once all had their rounds.
   * Where nothing reaches every target, rivals are those that may miss only by noise.
   */
  pickRival(): number | null {
    const log = this.#log;
    const feasible = log.feasible();
    const pool = feasible.length > 0 ? feasible : log.measured().filter((trial) => this.mayReach(trial));
    const top = pool[0] === undefined ? 0 : log.valueOf(pool[0]);
    const rivals = pool.filter((trial) => top - log.valueOf(trial) < RIVALRY * this.#noise());
    const rounds = rivals.length === 1 ? ROUNDS_ALONE : RIVAL_ROUNDS;
    const [least] = rivals
      .filter((trial) => trial.rounds.length < rounds)
      .toSorted((a, b) => a.rounds.length - b.rounds.length);
    return least?.candidate ?? null;
  }

  /** Whether a trial reaches every target, or misses only within the noise. */
  mayReach(trial: OpenTrial): boolean {
    const miss = Math.log(this.#log.factorOf(trial));
    return miss === 0 || miss < RIVALRY * this.#fit().noise.latency;
  }

  /** The trial to beat: the best that reaches every target, else the nearest to it. */
  #standard(): { candidate: number; value: number; isFeasible: boolean } | null {
    const [best] = this.#log.feasible();
    if (best !== undefined) return { candidate: best.candidate, value: this.#log.valueOf(best), isFeasible: true };
    const nearest = this.#log.nearest();
    if (nearest === undefined) return null;
    return { candidate: nearest.candidate, value: -Math.log(this.#log.factorOf(nearest)), isFeasible: false };
  }

  /** Estimate of the quantity to improve, and the chance that the improvement counts. */
  #promise(forecast: Forecast, isFeasible: boolean): { estimate: Estimate; chance: number } {
    const { factors, works } = forecast;
    if (isFeasible) {
      const reaches = factors.reduce((chance, factor) => chance * chanceBelowZero(factor), 1);
      return { estimate: this.#aim(forecast), chance: reaches * works };
    }
    const worst = factors.reduce((a, b) => (b.mean + b.sd > a.mean + a.sd ? b : a), { mean: 0, sd: 0 });
    return { estimate: { mean: -worst.mean, sd: worst.sd }, chance: works };
  }

  /** The untried candidate with the highest score above the minimum. */
  #pick(score: (forecast: Forecast, candidate: number) => number, least: number): number | null {
    const model = this.#fit();
    const tried = new Set(this.#log.trials.map(({ candidate }) => candidate));
    let best: { candidate: number; score: number } | null = null;
    for (const candidate of this.#order) {
      if (tried.has(candidate)) continue;
      const found = score(model.forecast(candidate), candidate);
      if (found > least && found > (best?.score ?? 0)) best = { candidate, score: found };
    }
    return best?.candidate ?? null;
  }

  #fit(): FittedModel {
    const { done } = this.#log;
    if (this.#fitted?.done !== done) this.#fitted = { done, model: this.#model.fit(this.#log.samples()) };
    return this.#fitted.model;
  }

  #aim({ throughputPerS, latencyMs }: Forecast) {
    return this.#problem.objective === "throughput" ? throughputPerS : { mean: -latencyMs.mean, sd: latencyMs.sd };
  }

  #noise(): number {
    const { throughput, latency } = this.#fit().noise;
    return this.#problem.objective === "throughput" ? throughput : latency;
  }
}

/** The numbers below `count`, shuffled by the seed. */
function shuffle(count: number, seed: number): number[] {
  const draws = Array.from({ length: count }, (_, index) => philox4x32([index, 0, 0, 0], [seed, 0])[0]);
  return [...draws.keys()].toSorted((a, b) => draws[a]! - draws[b]!);
}
