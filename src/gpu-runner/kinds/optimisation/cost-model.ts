import type { Candidate, OptimisationTargets } from "../../../protocol/jobs/optimisation.ts";
import { normalCdf, normalTail } from "../../../stats/distribution/normal.ts";
import { encodeCandidates } from "./encode-candidates.ts";
import type { Measured } from "./search-problem.ts";
import { type Estimate, type FittedSurface, PointCovariances, Surface } from "./surface.ts";

/** Measurement of a candidate; null where it failed. */
export interface Sample {
  readonly candidate: number;
  readonly measured: Measured | null;
}

/** Forecast for a candidate; all quantities are natural logarithms. */
export interface Forecast {
  readonly throughputPerS: Estimate;
  readonly latencyMs: Estimate;
  readonly memoryBytes: Estimate | null;
  /** Factor by which each existing target is missed. */
  readonly factors: readonly Estimate[];
  /** Probability that the candidate can be measured at all. */
  readonly works: number;
}

export interface FittedModel {
  forecast(candidate: number): Forecast;
  /** Noise of one measurement of throughput and of latency, as standard deviations of their logarithms. */
  readonly noise: { readonly throughput: number; readonly latency: number };
}

/** Weight of the prior belief that a candidate works, in trials at the same point. */
const TRUST = 0.5;

/**
 * Predictions for unmeasured candidates, from surfaces over the measured ones: throughput, latency stretch and memory.
 * Latency is rows in flight ÷ throughput by Little's law, times the stretch: the ratio of the percentile to the mean.
 * Source: Little, Operations Research, 1961.
 */
export class CostModel {
  readonly #candidates: readonly Candidate[];
  readonly #targets: OptimisationTargets;
  readonly #inFlight: readonly number[];
  readonly #surfaces: Readonly<Record<"throughput" | "stretch" | "memory", Surface>>;

  constructor(candidates: readonly Candidate[], targets: OptimisationTargets, inFlight: (each: Candidate) => number) {
    const covariances = new PointCovariances(encodeCandidates(candidates));
    this.#candidates = candidates;
    this.#targets = targets;
    this.#inFlight = candidates.map((each) => Math.log(inFlight(each)));
    const create = () => new Surface(covariances);
    this.#surfaces = { throughput: create(), stretch: create(), memory: create() };
  }

  fit(samples: readonly Sample[]): FittedModel {
    const of = (value: (measured: Measured, candidate: number) => number | null) =>
      samples.flatMap(({ candidate, measured }) => {
        const found = measured === null ? null : value(measured, candidate);
        return found === null ? [] : [{ point: candidate, value: found }];
      });
    const throughput = this.#surfaces.throughput.fit(of((each) => Math.log(each.throughputPerS)));
    const stretch = this.#surfaces.stretch.fit(
      of((each, candidate) => Math.log(each.latencyMs) + Math.log(each.throughputPerS) - this.#inFlight[candidate]!),
    );
    const sizes = of(({ memoryBytes }) => (memoryBytes === null ? null : Math.log(memoryBytes)));
    const memory = sizes.length === 0 ? null : this.#surfaces.memory.fit(sizes);
    const fidelities = new Map(
      samples.flatMap(({ candidate, measured }) =>
        measured?.fidelity == null ? [] : [[this.#arithmeticOf(candidate), measured.fidelity] as const],
      ),
    );
    return {
      forecast: (candidate) => this.#forecast(candidate, { throughput, stretch, memory, fidelities, samples }),
      noise: { throughput: throughput.noise, latency: Math.hypot(throughput.noise, stretch.noise) },
    };
  }

  #forecast(candidate: number, { throughput, stretch, memory, fidelities, samples }: Fitted): Forecast {
    const rate = throughput.estimate(candidate);
    const tail = stretch.estimate(candidate);
    const latency = { mean: this.#inFlight[candidate]! - rate.mean + tail.mean, sd: Math.hypot(rate.sd, tail.sd) };
    const bytes = memory?.estimate(candidate) ?? null;
    const fidelity = fidelities.get(this.#arithmeticOf(candidate));
    const { latencyMs, throughputPerS, memoryBytes, minFidelity } = this.#targets;
    const factors = [
      latencyMs === undefined ? null : { mean: latency.mean - Math.log(latencyMs), sd: latency.sd },
      throughputPerS === undefined ? null : { mean: Math.log(throughputPerS) - rate.mean, sd: rate.sd },
      memoryBytes === undefined || bytes === null ? null : { mean: bytes.mean - Math.log(memoryBytes), sd: bytes.sd },
      fidelity === undefined || minFidelity <= fidelity ? null : { mean: Math.log(minFidelity / fidelity), sd: 0 },
    ].filter((factor) => factor !== null);
    return {
      throughputPerS: rate,
      latencyMs: latency,
      memoryBytes: bytes,
      factors,
      works: this.#chanceToWork(candidate, samples),
    };
  }

  /** Share of similar trials that worked, weighted by likeness; candidates unlike any trial are trusted. */
  #chanceToWork(candidate: number, samples: readonly Sample[]): number {
    const alike = samples.map((each) => ({ ...each, weight: likeness(this.#at(candidate), this.#at(each.candidate)) }));
    const weigh = (which: readonly { weight: number }[]) => which.reduce((sum, { weight }) => sum + weight, TRUST);
    return weigh(alike.filter(({ measured }) => measured !== null)) / weigh(alike);
  }

  /** Key of the settings that determine a candidate's answers. */
  #arithmeticOf(candidate: number): string {
    const { deviceKey, backend, variant } = this.#at(candidate);
    return `${deviceKey} ${backend} ${variant}`;
  }

  #at(candidate: number): Candidate {
    return this.#candidates[candidate]!;
  }
}

interface Fitted {
  readonly throughput: FittedSurface;
  readonly stretch: FittedSurface;
  readonly memory: FittedSurface | null;
  readonly fidelities: ReadonlyMap<string, number>;
  readonly samples: readonly Sample[];
}

/** Probability that a normal value is below 0. */
export function chanceBelowZero({ mean, sd }: Estimate): number {
  if (sd === 0) return mean <= 0 ? 1 : 0;
  return normalCdf(-mean / sd);
}

/**
 * Expected excess of a normal value over `best`, counting 0 where it does not exceed it.
 * Source: Jones, Schonlau and Welch, Efficient global optimization of expensive black-box functions, 1998, eq. 15.
 */
export function expectedImprovement({ mean, sd }: Estimate, best: number): number {
  const gain = mean - best;
  if (sd === 0) return Math.max(0, gain);
  const z = gain / sd;
  const density = Math.exp((-z * z) / 2) / Math.sqrt(2 * Math.PI);
  const above = z > 0 ? 1 - normalTail(z) : normalTail(-z);
  return Math.max(0, gain * above + sd * density);
}

/**
 * Likeness of two candidates, from 1 for identical ones to nearly 0.
 * It is half for settings four doublings apart, and nearly nothing where a category differs.
 */
function likeness(a: Candidate, b: Candidate): number {
  const apart = ["threads", "maxRows", "concurrency"] as const;
  const doublings = apart.reduce((sum, name) => sum + Math.abs(Math.log2(a[name] / b[name])), 0);
  const others = [a.deviceKey !== b.deviceKey, a.backend !== b.backend, a.variant !== b.variant].filter(Boolean).length;
  const names = Object.keys({ ...a.axes, ...b.axes });
  const axes = names.filter((name) => a.axes?.[name] !== b.axes?.[name]).length;
  return 2 ** -(doublings / 4 + axes / 2 + 6 * others);
}
