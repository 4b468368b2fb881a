import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { poissonArrivals } from "../../src/cli/load/arrivals.ts";
import { median } from "../../src/stats/distribution/summary.ts";
import { summarise } from "../../src/stats/distribution/distribution.ts";
import { startStack } from "../hop/start-stack.ts";
import { sampleDistribution, serviceSampler } from "./duration-sampler.ts";
import { livePlacementOf } from "./fleet.ts";
import { offerLoad } from "./offer-load.ts";
import { placeSlowly, type PlacedModel, sleepingEnvironment } from "./place-slowly.ts";
import { runSimulation } from "./run-simulation.ts";
import type { SimulateOptions } from "./simulate-arguments.ts";

/** One load, as measured on the local stack and as simulated. */
export interface ValidationRow {
  readonly load: number;
  readonly offeredPerSecond: number;
  /** Answers in budget per second, round by round. */
  readonly measured: readonly number[];
  readonly simulated: readonly number[];
  readonly ratio: number;
  /** 0.99 quantile of the generator's lag behind its own arrivals. */
  readonly lagP99Ms: number;
  readonly text: string;
}

const LOADS = [0.5, 1, 2];
const BUDGET_MS = 1_500;
const WARM_UP_MS = 2_000;
const CONFIDENCE = 0.99;
/** Load of the calibration, as a share of capacity: enough for a 0.99 quantile, too little for requests to wait. */
const CALIBRATION_LOAD = 0.2;
const CALIBRATION_MS = 10_000;

/**
 * Offers the same arrivals to the local stack, whose backend sleeps for a known time, and to a simulation of it from a
 * measured calibration.
 * It runs round by round at each load, so that a busy moment meets all of them.
 */
export async function* validateSimulation(
  options: Pick<SimulateOptions, "rounds" | "seconds" | "seed">,
  say: (text: string) => void,
): AsyncGenerator<ValidationRow> {
  const folder = await mkdtemp(join(tmpdir(), "millrace-simulate-"));
  const stack = await startStack(say, { variables: { edge: {}, runner: sleepingEnvironment(folder) } });
  try {
    const placed = await placeSlowly(stack, folder);
    const capacity = placed.capacityPerSecond;
    say(
      `a batch of ${placed.maxRows} rows takes ${placed.batchMs.toFixed(1)} ms: ${capacity.toFixed(1)} rows a second`,
    );
    const way = await measureWay(stack, options.seed, capacity);
    const rounds = new Map(
      LOADS.map((load) => [load, { measured: [] as number[], simulated: [] as number[], lags: [] as number[] }]),
    );
    for (let round = 1; round <= options.rounds; round++) {
      for (const load of LOADS) {
        const durationMs = options.seconds * 1e3;
        const plan = {
          ratePerSecond: load * capacity,
          durationMs: WARM_UP_MS + durationMs,
          seed: options.seed + round,
        };
        const arrivalsMs = poissonArrivals(plan);
        const kept = rounds.get(load)!;
        const real = await offerLoad(stack, { arrivalsMs, budgetMs: BUDGET_MS, fromMs: WARM_UP_MS });
        const simulated = await simulate(placed, way, arrivalsMs, durationMs, plan.seed);
        kept.measured.push(real.inBudget / options.seconds);
        kept.simulated.push(simulated);
        kept.lags.push(real.lagP99Ms);
        say(
          `round ${round}, ${load}×: measured ${kept.measured.at(-1)}, simulated ${simulated} a second; ${JSON.stringify(real.results)}`,
        );
      }
    }
    for (const [load, { measured, simulated, lags }] of rounds) {
      const ratio = median(simulated) / median(measured);
      const offeredPerSecond = load * capacity;
      const figures = { load, offeredPerSecond, measured, simulated, ratio, lagP99Ms: median(lags) };
      const [real, model] = [median(measured).toFixed(1), median(simulated).toFixed(1)];
      const text = `${load}× (${offeredPerSecond.toFixed(1)}/s): measured ${real}/s, simulated ${model}/s, ratio ${ratio.toFixed(3)}; the generator's p99 lag ${figures.lagP99Ms.toFixed(1)} ms`;
      yield { ...figures, text };
    }
  } finally {
    await stack.stop();
    await rm(folder, { recursive: true, force: true });
  }
}

/** Measures a request's time outside queue and service, at a load under which hardly any request waits. */
async function measureWay(
  stack: Parameters<typeof offerLoad>[0],
  seed: number,
  capacity: number,
): Promise<{ readonly linkMs: readonly number[]; readonly edgeMs: readonly number[] }> {
  const plan = { ratePerSecond: CALIBRATION_LOAD * capacity, durationMs: CALIBRATION_MS, seed };
  const { splits } = await offerLoad(stack, { arrivalsMs: poissonArrivals(plan), budgetMs: 10 * BUDGET_MS, fromMs: 0 });
  return { linkMs: splits.map(({ linkMs }) => linkMs), edgeMs: splits.map(({ edgeMs }) => edgeMs) };
}

async function simulate(
  { placement, version }: PlacedModel,
  { linkMs, edgeMs }: Awaited<ReturnType<typeof measureWay>>,
  arrivalsMs: Float64Array,
  durationMs: number,
  seed: number,
): Promise<number> {
  const host = {
    id: "runner",
    speed: "local",
    placements: [livePlacementOf("runner", version, placement)],
    services: new Map([[version, serviceSampler(placement.sweep)]]),
    link: sampleDistribution(summarise(linkMs)),
  };
  const { goodputPerSecond } = await runSimulation({
    hosts: [host],
    arrivalsMs,
    versions: [version],
    tenants: 1,
    budgetMs: BUDGET_MS,
    confidence: CONFIDENCE,
    isolates: 1,
    edge: sampleDistribution(summarise(edgeMs)),
    warmUpMs: WARM_UP_MS,
    durationMs,
    lossRate: 0,
    awayMs: 0,
    jobsPerSecond: 0,
    jobMs: 0,
    heartbeats: "every",
    seed,
  });
  return goodputPerSecond;
}
