import { ProblemError } from "../../protocol/wire/problem.ts";
import { drawPoissonArrivals } from "../../stats/random/draws.ts";

/** Arrival process of requests; rates are per second. */
export interface ArrivalPlan {
  readonly ratePerSecond: number;
  readonly durationMs: number;
  readonly seed: number;
}

/** Every period begins with a burst: so many times as dense as the rest, and so long a share of the period. */
export interface BurstShape {
  readonly density: number;
  readonly share: number;
  readonly periodMs: number;
}

/** Bursts of 400 ms that are nearly three times as dense as the mean. */
const BURSTS: BurstShape = { density: 5, share: 0.2, periodMs: 2_000 };

/** Times of a Poisson process in milliseconds from the start; a seed always means the same trace. */
export function poissonArrivals({ ratePerSecond, durationMs, seed }: ArrivalPlan): Float64Array<ArrayBuffer> {
  const times: number[] = [];
  for (const atMs of drawPoissonArrivals(ratePerSecond, seed)) {
    if (atMs >= durationMs) break;
    times.push(atMs);
  }
  return Float64Array.from(times);
}

/**
 * Poisson arrivals that come in bursts, with the mean rate kept: a Poisson process whose clock runs
 * faster within bursts.
 */
export function burstArrivals(
  plan: ArrivalPlan,
  { density, share, periodMs }: BurstShape = BURSTS,
): Float64Array<ArrayBuffer> {
  // Speeds of the clock within and outside of bursts; their mean over a period is 1.
  const calm = 1 / (share * density + (1 - share));
  const burst = density * calm;
  const burstMs = share * periodMs;
  const burstWork = burstMs * burst;
  return poissonArrivals(plan)
    .map((workMs) => {
      const periods = Math.floor(workMs / periodMs);
      const rest = workMs - periods * periodMs;
      const withinMs = rest < burstWork ? rest / burst : burstMs + (rest - burstWork) / calm;
      return periods * periodMs + withinMs;
    })
    .filter((atMs) => atMs < plan.durationMs);
}

/** Times that were recorded: a number of milliseconds a line, not falling, the last above 0. Throws `invalid-request`. */
export function readArrivals(text: string): Float64Array<ArrayBuffer> {
  const lines = text.split("\n").filter((line) => line.trim() !== "");
  let lastMs = 0;
  const times = Float64Array.from(lines, (line, index) => {
    const atMs = Number(line);
    if (!Number.isFinite(atMs) || atMs < lastMs) {
      throw new ProblemError(
        "invalid-request",
        `line ${index + 1} has to be a number of milliseconds, at least ${lastMs}`,
      );
    }
    lastMs = atMs;
    return atMs;
  });
  if (lastMs === 0) throw new ProblemError("invalid-request", "there has to be an arrival after the first moment");
  return times;
}
