import type { DurationSampler } from "./duration-sampler.ts";
import type { SimulatedHost } from "./fleet.ts";
import { Platform } from "./platform.ts";
import { SimClock } from "./sim-clock.ts";
import { SimDatabase } from "./sim-database.ts";
import { SimIsolate } from "./sim-isolate.ts";
import { SimLink } from "./sim-link.ts";
import { type Heartbeats, SimQueue } from "./sim-queue.ts";
import { SimRunner } from "./sim-runner.ts";
import { type SimulationResult, summariseSimulation } from "./summarise-simulation.ts";
import { Tally } from "./tally.ts";
import { exponential, uniformStream } from "./uniform-stream.ts";

/** Setup of a simulation: hosts, arrivals and events. */
export interface Simulation {
  readonly hosts: readonly SimulatedHost[];
  /** Arrival times from the start, including the warm-up. */
  readonly arrivalsMs: Float64Array;
  readonly versions: readonly string[];
  readonly tenants: number;
  readonly budgetMs: number;
  readonly confidence: number;
  readonly isolates: number;
  /** The Worker's own time for a request. */
  readonly edge: DurationSampler;
  /** Earlier arrivals are not counted. */
  readonly warmUpMs: number;
  readonly durationMs: number;
  /** Losses per hour of one runner. */
  readonly lossRate: number;
  readonly awayMs: number;
  readonly jobsPerSecond: number;
  readonly jobMs: number;
  readonly heartbeats: Heartbeats;
  readonly seed: number;
}

/** Share of lost runners whose socket closes at once; the others fall silent. */
const CLOSING_SHARE = 0.5;
/** Time after the last arrival, besides its budget, for messages on their way. */
const GRACE_MS = 1_000;
/** Purposes of the random number streams. */
const DRAWS = { requests: 1, isolates: 2, services: 3, links: 4, losses: 5, jobs: 6 };

/** Runs requests, jobs and losses through the fleet. The same simulation always gives the same result. */
export async function runSimulation(
  simulation: Simulation,
  onSecond: (second: number) => void = () => {},
): Promise<SimulationResult> {
  const { hosts, arrivalsMs, warmUpMs, durationMs, budgetMs } = simulation;
  const clock = new SimClock();
  const world = createWorld(simulation, clock);
  const tally = new Tally(simulation.tenants, warmUpMs);
  sendArrivals(simulation, world, tally);
  submitJobs(simulation, world);
  loseRunners(simulation, world);
  const endMs = warmUpMs + durationMs;
  const before = new Map<string, Pick<SimRunner, "rows" | "busyMs">>();
  clock.at(warmUpMs, () => {
    world.platform.reset();
    for (const { host, rows, busyMs } of world.runners) before.set(host.id, { rows, busyMs });
  });
  for (let atMs = 1e3; atMs < endMs; atMs += 1e3) {
    await clock.runUntil(atMs);
    onSecond(atMs / 1e3);
  }
  await clock.runUntil(endMs);
  const platform = world.platform.tell();
  const work = world.runners.map(({ host, rows, busyMs }) => {
    const earlier = before.get(host.id) ?? { rows: 0, busyMs: 0 };
    return { speed: host.speed, rows: rows - earlier.rows, busyMs: busyMs - earlier.busyMs };
  });
  const queue = world.queue.tell(endMs);
  await clock.runUntil(Math.max(endMs, arrivalsMs.at(-1) ?? 0) + budgetMs + GRACE_MS);
  return summariseSimulation({ hosts: hosts.length, durationMs, tally, work, platform, queue });
}

type World = ReturnType<typeof createWorld>;

function createWorld(simulation: Simulation, clock: SimClock) {
  const { hosts, seed, jobMs, heartbeats, isolates, edge } = simulation;
  const platform = new Platform(clock);
  const database = new SimDatabase(hosts, clock);
  const draw = (purpose: keyof typeof DRAWS) => uniformStream(seed, DRAWS[purpose]);
  const links = new Map<string, SimLink>();
  const parts = { clock, platform, database };
  const queue = new SimQueue(parts, heartbeats, (runnerId) => links.get(runnerId)!);
  const [services, ways, choices, jobs] = [draw("services"), draw("links"), draw("isolates"), draw("jobs")];
  const drawJobMs = () => exponential(jobs, jobMs);
  const runners = hosts.map((host) => new SimRunner(host, clock, services));
  for (const runner of runners) {
    links.set(runner.host.id, new SimLink(runner, { ...parts, queue, drawJobMs }, ways));
    queue.know(runner.host.id);
  }
  const workers = Array.from({ length: isolates }, () => new SimIsolate({ ...parts, links }, choices, edge));
  return { clock, platform, queue, links, runners, isolates: workers };
}

/** Schedules one arrival at a time, so that a long load needs little memory. */
function sendArrivals(simulation: Simulation, { clock, isolates }: World, tally: Tally): void {
  const { arrivalsMs, versions, tenants, budgetMs, confidence, seed } = simulation;
  const uniform = uniformStream(seed, DRAWS.requests);
  const pickTenant = drawTenants(tenants);
  const next = (index: number) => {
    const arrivalMs = arrivalsMs[index];
    if (arrivalMs === undefined) return;
    clock.at(arrivalMs, () => {
      const tenant = pickTenant(uniform());
      const version = versions[Math.floor(uniform() * versions.length)]!;
      const isolate = isolates[Math.floor(uniform() * isolates.length)]!;
      const request = { id: `req_${String(index).padStart(26, "0")}`, version, budgetMs, confidence };
      void isolate.answer(request).then((end) => tally.note(tenant, arrivalMs, budgetMs, end));
      next(index + 1);
    });
  };
  next(0);
}

/** Draws tenants with request rates like 1, 1/2, 1/3 …: the first most often, the last seldom. */
function drawTenants(tenants: number): (uniform: number) => number {
  let sum = 0;
  const sums = Array.from({ length: tenants }, (_, tenant) => (sum += 1 / (tenant + 1)));
  return (uniform) => sums.findIndex((upTo) => uniform * sum < upTo);
}

function submitJobs({ jobsPerSecond, seed }: Simulation, { clock, queue }: World): void {
  if (jobsPerSecond === 0) return;
  const uniform = uniformStream(seed, DRAWS.jobs + DRAWS.losses);
  const next = () => {
    clock.at(clock.nowMs + exponential(uniform, 1e3 / jobsPerSecond), () => {
      void queue.submit();
      next();
    });
  };
  next();
}

/** Loses runners one by one at random, and brings them back. */
function loseRunners({ lossRate, awayMs, seed }: Simulation, { clock, runners, links }: World): void {
  if (lossRate === 0) return;
  const uniform = uniformStream(seed, DRAWS.losses);
  const everyMs = 3_600_000 / (lossRate * runners.length);
  const next = () => {
    clock.at(clock.nowMs + exponential(uniform, everyMs), () => {
      const runner = runners[Math.floor(uniform() * runners.length)]!;
      const link = links.get(runner.host.id)!;
      const closes = uniform() < CLOSING_SHARE;
      const backInMs = exponential(uniform, awayMs);
      if (runner.isUp) {
        link.lose(closes);
        clock.at(clock.nowMs + backInMs, () => void link.comeBack());
      }
      next();
    });
  };
  next();
}
