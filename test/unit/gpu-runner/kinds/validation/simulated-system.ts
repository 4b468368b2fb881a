import { ProblemError } from "../../../../../src/protocol/wire/problem.ts";
import type { SystemUnderTest } from "../../../../../src/gpu-runner/kinds/validation/system-under-test.ts";
import { philox4x32 } from "../../../../../src/stats/random/draws.ts";
import type { SimulatedClock } from "./simulated-clock.ts";

export interface SimulatedSystemOptions {
  readonly clock: SimulatedClock;
  /** Duration of one query, by its index from 0. */
  readonly serviceMs: (samples: number, index: number) => number;
  readonly fails?: (index: number) => boolean;
  readonly maxSamples?: number;
}

/** One server that processes queries in order, one at a time; it fails at once on request. */
export class SimulatedSystem implements SystemUnderTest {
  readonly maxSamples: number;
  readonly #options: SimulatedSystemOptions;
  #freeAtMs = 0;
  readonly queries: number[] = [];
  underWay = 0;
  mostUnderWay = 0;

  constructor(options: SimulatedSystemOptions) {
    this.#options = options;
    this.maxSamples = options.maxSamples ?? 8;
  }

  async query(samples: number): Promise<void> {
    const { clock, serviceMs, fails } = this.#options;
    const index = this.queries.push(samples) - 1;
    if (fails?.(index)) throw new ProblemError("overloaded", "no room");
    this.#freeAtMs = Math.max(this.#freeAtMs, clock.now()) + serviceMs(samples, index);
    this.underWay++;
    this.mostUnderWay = Math.max(this.mostUnderWay, this.underWay);
    await clock.waitUntil(this.#freeAtMs);
    this.underWay--;
  }
}

/** A number in (0, 1) that belongs to an index. */
export function randomAt(index: number, seed: number): number {
  return (philox4x32([index, 0, 0, 0], [seed, 1])[0] + 0.5) / 2 ** 32;
}
