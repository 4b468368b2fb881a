import { burstArrivals, type BurstShape, poissonArrivals } from "../../src/cli/load/arrivals.ts";
import { philox4x32 } from "../../src/stats/random/draws.ts";
import { sfc32 } from "../../src/stats/random/seeded.ts";
import type { ModelName } from "./served-models.ts";

export interface TracedRequest {
  readonly model: ModelName;
  readonly budgetMs: number;
  /** Index of its first row among the model's rows. */
  readonly row: number;
  readonly rows: number;
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

/** What the arrivals of a trace are like. */
export const TRACE_SHAPES = {
  "poisson and bursts": "1.5 s Poisson, 1.5 s bursts",
  "on and off": "all arrivals within spells of 100 ms on average, with pauses of 150 ms between them",
  "flash crowd": "a sine whose top is three times its bottom, and within it 300 ms of three times as much",
  "heavy-tailed": "Poisson arrivals of 1 to 8 rows: a Pareto distribution of index 1.2, rounded down, the rest at 8",
} as const;
export type TraceShape = keyof typeof TRACE_SHAPES;
export const FIRST_SHAPE: TraceShape = "poisson and bursts";

const SPELL_MS = { on: 100, off: 150 };
const CROWD = { fromMs: 1_800, toMs: 2_100, factor: 3 };
const PARETO = { index: 1.2, mostRows: 8 };
/** P(rows ≥ n) is n to the power of −index, so this sum is the mean. */
const MEAN_ROWS = Array.from({ length: PARETO.mostRows }, (_, index) => (index + 1) ** -PARETO.index).reduce(
  (sum, share) => sum + share,
);

/**
 * A trace of a mean rate of rows: the same for the same seed. Budgets are log-uniform between those of the model. A request
 * has one row but in the shape of heavy tails.
 */
export function createTrace(ratePerSecond: number, seed: number, shape: TraceShape = FIRST_SHAPE): Trace {
  const arrivalsMs = drawArrivals(ratePerSecond, seed, shape);
  const requests = Array.from(arrivalsMs, (_, index) => {
    const request = drawRequest(index, seed);
    return shape === "heavy-tailed" ? { ...request, rows: drawRows(index, seed) } : request;
  });
  return { arrivalsMs, requests, durationMs: 2 * HALF_MS };
}

function drawArrivals(ratePerSecond: number, seed: number, shape: TraceShape): Float64Array {
  switch (shape) {
    case "poisson and bursts": {
      const plan = { ratePerSecond, durationMs: HALF_MS };
      const poisson = poissonArrivals({ ...plan, seed: 2 * seed });
      const bursts = burstArrivals({ ...plan, seed: 2 * seed + 1 }, BURSTS);
      return Float64Array.from([...poisson, ...bursts.map((atMs) => HALF_MS + atMs)]);
    }
    case "on and off":
      return varyingArrivals(ratePerSecond, seed, drawSpells(seed));
    case "flash crowd":
      return varyingArrivals(ratePerSecond, seed, crowdDensities());
    case "heavy-tailed":
      return poissonArrivals({ ratePerSecond: ratePerSecond / MEAN_ROWS, durationMs: 2 * HALF_MS, seed });
  }
}

/** A Poisson process whose rate follows a density for each millisecond; their mean becomes 1. */
function varyingArrivals(ratePerSecond: number, seed: number, densities: Float64Array): Float64Array {
  const scale = densities.length / densities.reduce((sum, density) => sum + density, 0);
  const clockMs = poissonArrivals({ ratePerSecond, durationMs: densities.length, seed });
  const arrivals: number[] = [];
  let passed = 0;
  let at = 0;
  for (const [ms, density] of densities.entries()) {
    const nextMs = passed + density * scale;
    for (; at < clockMs.length && clockMs[at]! < nextMs; at++) {
      arrivals.push(ms + (clockMs[at]! - passed) / (density * scale));
    }
    passed = nextMs;
  }
  return Float64Array.from(arrivals);
}

/** 1 within spells, 0 between them; both have exponential durations. */
function drawSpells(seed: number): Float64Array {
  const densities = new Float64Array(2 * HALF_MS);
  const draw = sfc32(seed);
  let isOn = true;
  for (let ms = 0; ms < densities.length; isOn = !isOn) {
    const spellMs = Math.ceil(-Math.log(1 - draw(2 ** 32) * 2 ** -32) * (isOn ? SPELL_MS.on : SPELL_MS.off));
    densities.fill(isOn ? 1 : 0, ms, ms + spellMs);
    ms += spellMs;
  }
  return densities;
}

function crowdDensities(): Float64Array {
  return Float64Array.from({ length: 2 * HALF_MS }, (_, ms) => {
    const day = 1 - Math.cos((Math.PI * ms) / HALF_MS) / 2;
    return ms >= CROWD.fromMs && ms < CROWD.toMs ? CROWD.factor * day : day;
  });
}

function drawRows(index: number, seed: number): number {
  const [word] = philox4x32([index, 2, 0, 0], [seed, 0]);
  return Math.min(PARETO.mostRows, Math.floor(((word + 0.5) / 2 ** 32) ** (-1 / PARETO.index)));
}

/** Seeds of the pieces of the bench's trace; 0 is for warming up. */
export function seedOfRound(round: number): number {
  return 1_000 + round;
}

function drawRequest(index: number, seed: number): TracedRequest {
  const [first, second, third] = philox4x32([index, 1, 0, 0], [seed, 0]).map((word) => (word + 0.5) / 2 ** 32);
  const model = first! < POLICY_SHARE ? "policy" : "vision";
  const [leastMs, mostMs] = BUDGETS_MS[model];
  return { model, budgetMs: leastMs * (mostMs / leastMs) ** second!, row: Math.floor(third! * ROWS), rows: 1 };
}
