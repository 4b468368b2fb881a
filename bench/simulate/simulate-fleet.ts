import { burstArrivals, poissonArrivals } from "../../src/cli/load/arrivals.ts";
import { createFleet, versionOf } from "./fleet.ts";
import calibration from "./measured-calibration.json" with { type: "json" };
import { runSimulation } from "./run-simulation.ts";
import type { SimulateOptions } from "./simulate-arguments.ts";
import type { SimulationResult } from "./summarise-simulation.ts";

/** The Worker's own part of a request: the mean that the hop bench measured. */
const EDGE_MS = 0.678;
const CONFIDENCE = 0.99;
const AWAY_MS = 10_000;
const JOB_MS = 5_000;

/** Simulates one load on a fleet whose service times are shaped like measured ones. */
export function simulateFleet(
  options: SimulateOptions,
  load: number,
  onSecond: (second: number) => void,
): Promise<SimulationResult> {
  const { runners, models, rps, seconds, seed } = options;
  const durationMs = seconds * 1e3;
  const warmUpMs = options.warmUpSeconds * 1e3;
  const plan = { ratePerSecond: load * rps, durationMs: warmUpMs + durationMs, seed };
  return runSimulation(
    {
      ...options,
      hosts: createFleet({ ...options, runners, models, calibration }),
      arrivalsMs: options.arrivals === "poisson" ? poissonArrivals(plan) : burstArrivals(plan),
      versions: Array.from({ length: models }, (_, model) => versionOf(model)),
      confidence: CONFIDENCE,
      isolates: Math.ceil(options.isolates * load),
      edge: () => EDGE_MS,
      warmUpMs,
      durationMs,
      awayMs: AWAY_MS,
      jobsPerSecond: options.jobRate,
      jobMs: JOB_MS,
    },
    onSecond,
  );
}
