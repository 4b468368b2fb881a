import { describe, expect, it } from "vitest";
import { createFleet, versionOf } from "../../../../bench/simulate/fleet.ts";
import { runSimulation, type Simulation } from "../../../../bench/simulate/run-simulation.ts";
import { poissonArrivals } from "../../../../src/cli/load/arrivals.ts";
import { summarise } from "../../../../src/stats/distribution/distribution.ts";

const SECONDS = 4;
const WARM_UP_MS = 1_000;
/** Batches gain nothing: a runner of middle speed does ten rows a second, whatever their batches. */
const calibration = {
  loadMs: 100,
  linkMs: summarise([1, 1.5, 2]),
  sweep: [1, 2, 4].map((rows) => ({ rows, serviceMs: summarise([9, 10, 11].map((ms) => ms * rows)) })),
};

function simulate(rate: number, changes: Partial<Simulation> = {}) {
  const durationMs = SECONDS * 1e3;
  return runSimulation({
    hosts: createFleet({ runners: 12, models: 2, serviceMs: 100, wayMs: 5, calibration }),
    arrivalsMs: poissonArrivals({ ratePerSecond: rate, durationMs: WARM_UP_MS + durationMs, seed: 3 }),
    versions: [versionOf(0), versionOf(1)],
    tenants: 3,
    budgetMs: 1_000,
    confidence: 0.99,
    isolates: 2,
    edge: () => 0.5,
    warmUpMs: WARM_UP_MS,
    durationMs,
    lossRate: 0,
    awayMs: 2_000,
    jobsPerSecond: 0,
    jobMs: 500,
    heartbeats: "every",
    seed: 5,
    ...changes,
  });
}
/** Four of each speed: 20, 10 and 5 rows a second. */
const CAPACITY = 4 * (20 + 10 + 5);

describe("a simulated fleet", () => {
  it("answers all in time that are far less than it can do", async () => {
    const { results, offeredPerSecond, goodputShare, utilisation } = await simulate(CAPACITY / 4);
    expect(goodputShare).toBe(1);
    expect(results).toEqual({ answered: offeredPerSecond * SECONDS });
    expect(utilisation).toBeGreaterThan(0.05);
    expect(utilisation).toBeLessThan(0.35);
  });

  it("does what its devices can and no more, and ends every request once", async () => {
    const { results, offeredPerSecond, goodputPerSecond, utilisation, latencyMs } = await simulate(2 * CAPACITY);
    const ended = Object.values(results).reduce((sum, count) => sum + count, 0);
    expect(ended).toBe(offeredPerSecond * SECONDS);
    // Admissions in the warm-up and requests under way at the end may differ by a few.
    expect(goodputPerSecond).toBeLessThan(1.05 * CAPACITY);
    expect(goodputPerSecond).toBeGreaterThan(0.7 * CAPACITY);
    expect(utilisation).toBeGreaterThan(0.75);
    expect(latencyMs?.quantiles.at(-1)).toBeLessThanOrEqual(1_000);
    expect(results.overloaded).toBeGreaterThan(0);
  });

  it("goes the same way for the same seed, and another for another", async () => {
    const lossy = { lossRate: 400, jobsPerSecond: 2 };
    const [first, again, other] = [
      await simulate(CAPACITY / 2, lossy),
      await simulate(CAPACITY / 2, lossy),
      await simulate(CAPACITY / 2, { ...lossy, seed: 6 }),
    ];
    expect(again).toEqual(first);
    expect(other.latencyMs).not.toEqual(first.latencyMs);
  });

  it("retries elsewhere the requests lost with a runner, and reports the ends of the others", async () => {
    const { results, retried, offeredPerSecond } = await simulate(CAPACITY / 4, { lossRate: 1_200 });
    expect(retried).toBeGreaterThan(0);
    expect(Object.values(results).reduce((sum, count) => sum + count, 0)).toBe(offeredPerSecond * SECONDS);
    expect(Object.keys(results)).not.toContain("internal");
  });
});

describe("jobs of a simulated fleet", () => {
  it("all end or are open, one lease each where nobody is lost", async () => {
    const { queue } = await simulate(1, { jobsPerSecond: 5 });
    expect(queue.submitted).toBeGreaterThan(10);
    expect(queue.succeeded + queue.open).toBe(queue.submitted);
    expect(queue).toMatchObject({ failed: 0, expired: 0, late: 0, refused: 0 });
    expect(queue.leases).toBeLessThanOrEqual(queue.submitted);
  });

  it("are leased again where their runner is lost", async () => {
    const { queue } = await simulate(1, { jobsPerSecond: 5, jobMs: 3_000, lossRate: 1_200, awayMs: 500 });
    expect(queue.succeeded + queue.failed + queue.open).toBe(queue.submitted);
    expect(queue.leases).toBeGreaterThan(queue.succeeded + queue.failed);
  });

  it("spare the queue the heartbeats of who holds none", async () => {
    const every = await simulate(1, { heartbeats: "every" });
    const leased = await simulate(1, { heartbeats: "leased" });
    // Twelve runners, each every three seconds.
    expect(every.platform.heartbeatsPerSecond).toBeCloseTo(4, 0);
    expect(leased.platform.heartbeatsPerSecond).toBe(0);
  });
});
