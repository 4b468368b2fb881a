import { burstArrivals, type BurstShape, poissonArrivals } from "../../src/cli/load/arrivals.ts";
import { philox4x32 } from "../../src/stats/random/draws.ts";
import type { ModelName } from "./served-models.ts";

export interface TracedRequest {
  readonly model: ModelName;
  readonly budgetMs: number;
  /** Index of its row among the model's rows. */
  readonly row: number;
}

/** Requests of one round; the times of their arrivals rise, in milliseconds from its start. */
export interface Trace {
  readonly arrivalsMs: Float64Array;
  readonly requests: readonly TracedRequest[];
  readonly durationMs: number;
}

/** The first half is a Poisson process, the second has bursts. */
const HALF_MS = 1_500;
/**
 * A burst is 1.92 times as dense as the mean: at half the capacity it still stays below the capacity,
 * so that a server which refuses some of it then has no excuse.
 */
const BURSTS: BurstShape = { density: 2.5, share: 0.2, periodMs: 500 };
/** Every other request is for the policy. */
const POLICY_SHARE = 0.5;
/** Budgets from the first to the second: a control loop's are tighter than a vision network's. */
const BUDGETS_MS: Readonly<Record<ModelName, readonly [number, number]>> = { policy: [5, 50], vision: [50, 200] };
export const MAX_BUDGET_MS = 200;
export const ROWS = 16;

/** A trace of a mean rate: the same for the same seed. Budgets are log-uniform between those of the model. */
export function createTrace(ratePerSecond: number, seed: number): Trace {
  const plan = { ratePerSecond, durationMs: HALF_MS };
  const poisson = poissonArrivals({ ...plan, seed: 2 * seed });
  const bursts = burstArrivals({ ...plan, seed: 2 * seed + 1 }, BURSTS);
  const arrivalsMs = Float64Array.from([...poisson, ...bursts.map((atMs) => HALF_MS + atMs)]);
  const requests = Array.from(arrivalsMs, (_, index) => drawRequest(index, seed));
  return { arrivalsMs, requests, durationMs: 2 * HALF_MS };
}

/** Seeds of the pieces of the bench's trace; 0 is for warming up. */
export function seedOfRound(round: number): number {
  return 1_000 + round;
}

function drawRequest(index: number, seed: number): TracedRequest {
  const [first, second, third] = philox4x32([index, 1, 0, 0], [seed, 0]).map((word) => (word + 0.5) / 2 ** 32);
  const model = first! < POLICY_SHARE ? "policy" : "vision";
  const [leastMs, mostMs] = BUDGETS_MS[model];
  return { model, budgetMs: leastMs * (mostMs / leastMs) ** second!, row: Math.floor(third! * ROWS) };
}
