import { describe, expect, it } from "vitest";
import { runClosedLoop } from "../../../../../src/gpu-runner/kinds/validation/run-closed-loop.ts";
import { runScenario, type ScenarioOptions } from "../../../../../src/gpu-runner/kinds/validation/run-scenario.ts";
import { LIMITS } from "../../../../../src/protocol/wire/limits.ts";
import { type Scenario, ScenarioInput, ScenarioResult } from "../../../../../src/protocol/models/scenario.ts";
import { SimulatedClock } from "./simulated-clock.ts";
import { randomAt, SimulatedSystem, type SimulatedSystemOptions } from "./simulated-system.ts";

/** Queries of a warm-up that no problem cuts short. */
const WARM_UP = 16;

const scenario = (input: object): Scenario => ScenarioInput.parse(input);

function setUp(system: Omit<SimulatedSystemOptions, "clock">, changes: Partial<ScenarioOptions> = {}) {
  const clock = new SimulatedClock();
  const phases = new Set<string>();
  const options: ScenarioOptions = {
    clock,
    seed: 1,
    signal: new AbortController().signal,
    deadlineMs: 1e9,
    onProgress: ({ phase, done, total }) => {
      expect(phase.length).toBeLessThanOrEqual(64);
      expect(done).toBeLessThanOrEqual(total);
      phases.add(phase);
    },
    percentiles: [],
    ...changes,
  };
  const under = new SimulatedSystem({ clock, ...system });
  const run = async (input: object) => {
    const found = await runScenario(scenario(input), "runner", under, options);
    // As it goes over the wire.
    expect(ScenarioResult.parse(JSON.parse(JSON.stringify(found.result)))).toEqual(found.result);
    return found;
  };
  return { clock, under, options, phases, run };
}

describe("single stream", () => {
  it("asks one sample after the other until duration and queries are both reached", async () => {
    const { run, under } = setUp({ serviceMs: () => 10 });
    const { result, latenciesMs } = await run({ kind: "singleStream", minDurationMs: 2_000 });
    expect(result).toMatchObject({ queries: 200, samples: 200, durationMs: 2_000, errors: 0, samplesPerS: 100 });
    expect(result.short).toBe(true);
    expect([...latenciesMs]).toEqual(Array.from({ length: 200 }, () => 10));
    expect(under.queries).toHaveLength(WARM_UP + 200);
    expect(under.mostUnderWay).toBe(1);
    const few = await run({ kind: "singleStream", minDurationMs: 100 });
    expect(few.result).toMatchObject({ queries: 64, durationMs: 640 });
  });

  it("reports percentiles with their intervals, and MLPerf's estimate", async () => {
    const { run } = setUp({ serviceMs: (_, index) => 1 + ((index * 7) % 100) }, { percentiles: [0.25] });
    const { result, latenciesMs } = await run({ kind: "singleStream", minDurationMs: 100, minQueries: 1_000 });
    const sorted = latenciesMs.toSorted();
    expect(result.percentiles.map(({ percentile }) => percentile)).toEqual([0.25, 0.5, 0.9, 0.95, 0.99, 0.999]);
    const [quarter] = result.percentiles;
    expect(quarter?.ms).toBe(sorted[250]);
    expect(quarter?.lowMs).toBeLessThan(quarter!.ms);
    expect(quarter?.highMs).toBeGreaterThan(quarter!.ms);
    // A thousand samples have no upper bound of p99.9 but one of p99.
    expect(result.percentiles.at(-1)?.highMs).toBeNull();
    expect(result.percentiles.at(-2)?.highMs).not.toBeNull();
    // At p90, 1,000 queries allow 77 over: 77 need 996, 78 need 1,009 (see the vectors).
    const { overLatency, estimateMs } = result.earlyStopping!;
    expect(result.earlyStopping).toMatchObject({ percentile: 0.9, queries: 1_000, minQueries: 64, enough: true });
    expect(estimateMs).toBe(sorted[1_000 - overLatency]);
    expect(overLatency).toBeGreaterThan(70);
  });

  it("counts an error by its code, as over latency", async () => {
    const { run } = setUp({ serviceMs: () => 5, fails: (index) => index % 4 === 0 });
    const { result, latenciesMs } = await run({ kind: "singleStream", minDurationMs: 100, minQueries: 400 });
    expect(result).toMatchObject({ queries: 400, errors: 100, errorCodes: { overloaded: 100 } });
    expect(latenciesMs.filter((ms) => ms === Number.POSITIVE_INFINITY)).toHaveLength(100);
    expect(result.latencyMs?.count).toBe(300);
    // Three quarters have an answer: there is a median, and no p90.
    expect(result.percentiles.map(({ percentile }) => percentile)).toEqual([0.5]);
    expect(result.earlyStopping).toMatchObject({ enough: true, estimateMs: null });
  });

  it("ends at its deadline, whatever is missing, and does not wait for the last answer", async () => {
    const { run, clock } = setUp({ serviceMs: (_, index) => (index < 30 ? 10 : 100_000) }, { deadlineMs: 5_000 });
    const { result } = await run({ kind: "singleStream", minDurationMs: 100 });
    expect(clock.now()).toBe(5_000);
    expect(result).toMatchObject({ queries: 15, errors: 1, errorCodes: { "budget-exceeded": 1 } });
    expect(result.earlyStopping).toMatchObject({ enough: false, estimateMs: null, minQueries: 64 });
  });

  it("throws the reason of an aborted signal", async () => {
    const abort = new AbortController();
    const { run, clock } = setUp({ serviceMs: () => 10 }, { signal: abort.signal });
    const ran = run({ kind: "singleStream", minDurationMs: 60_000 });
    void clock.waitUntil(1_000).then(() => abort.abort(new Error("enough")));
    await expect(ran).rejects.toThrow("enough");
  });

  it("does not ask a system that refuses at once without end", async () => {
    const { run, under } = setUp({ serviceMs: () => 1, fails: () => true });
    const { result } = await run({ kind: "singleStream", minDurationMs: 500 });
    expect(result).toMatchObject({ queries: 500, errors: 500, latencyMs: null, percentiles: [], samplesPerS: 0 });
    expect(under.queries.length).toBe(WARM_UP + 500);
  });
});

describe("multi stream", () => {
  it("asks so many samples at once, in parts that the system takes", async () => {
    const { run, under } = setUp({ serviceMs: (samples) => samples, maxSamples: 3 });
    const { result, latenciesMs } = await run({ kind: "multiStream", minDurationMs: 100, minQueries: 700 });
    expect(result).toMatchObject({ queries: 700, samples: 5_600, samplesPerS: 1_000 });
    expect(under.queries.slice(-3)).toEqual([3, 3, 2]);
    expect(latenciesMs.every((ms) => ms === 8)).toBe(true);
    expect(result.earlyStopping).toMatchObject({ percentile: 0.99, minQueries: 662, overLatency: 1, estimateMs: 8 });
  });
});

describe("offline", () => {
  it("asks one query of as many samples as the duration is expected to take", async () => {
    const { run, under } = setUp({ serviceMs: (samples) => samples / 4, maxSamples: 32 });
    const { result } = await run({ kind: "offline", minDurationMs: 1_000 });
    expect(result).toMatchObject({ queries: 1, samples: 4_000, durationMs: 1_000, samplesPerS: 4_000, short: true });
    expect(result.earlyStopping).toBeNull();
    expect(under.mostUnderWay).toBeGreaterThan(1);
    expect(under.mostUnderWay).toBeLessThanOrEqual(4);
  });

  it("asks no more samples than a scenario may have", async () => {
    const { run } = setUp({ serviceMs: (samples) => samples / LIMITS.scenarioQueries, maxSamples: 2_000_000 });
    const { result } = await run({ kind: "offline", minDurationMs: 60_000 });
    expect(result.samples).toBe(LIMITS.scenarioQueries);
  });

  it("asks as many as it should, and fails with the first part that does", async () => {
    const { run, under } = setUp({ serviceMs: () => 1, maxSamples: 10, fails: (index) => index === WARM_UP + 3 });
    const { result } = await run({ kind: "offline", samples: 95 });
    expect(result).toMatchObject({ samples: 95, errors: 1, errorCodes: { overloaded: 1 }, samplesPerS: 0 });
    const { result: sound } = await run({ kind: "offline", samples: 95 });
    expect(sound).toMatchObject({ samples: 95, errors: 0, samplesPerS: 9_500 });
    expect(under.queries.at(-1)).toBe(5);
  });
});

describe("server at a given rate", () => {
  const server = { kind: "server", boundMs: 50, minDurationMs: 2_000 };

  it("counts latency from the scheduled arrival, so that a pause shows in all that came meanwhile", async () => {
    // Fast, but for one pause of half a second.
    const { run } = setUp({ serviceMs: (_, index) => (index === WARM_UP + 200 ? 500 : 0.1) });
    const { result, latenciesMs } = await run({ ...server, ratePerS: 400 });
    // Asked one after the other, a single one would have been late; here the run ends when too many are.
    expect(latenciesMs.filter((ms) => ms > 50).length).toBeGreaterThan(20);
    expect(latenciesMs.length).toBeLessThan(400);
    expect(result.server).toMatchObject({ highestRatePerS: null, searched: false, boundMs: 50 });
    expect(result.server?.curve).toHaveLength(1);
  });

  it("holds where enough queries are within the bound, and goes on where some are not", async () => {
    const steady = setUp({ serviceMs: () => 1 });
    const held = await steady.run({ ...server, ratePerS: 250 });
    expect(held.result.server).toMatchObject({ highestRatePerS: 250 });
    expect(held.result.earlyStopping).toMatchObject({ overLatency: 0, minQueries: 459, enough: true });
    expect(held.result.queries).toBeGreaterThan(459);
    expect(held.result.queries).toBeLessThan(600);
    // One query is too slow, and with it the next ones: more queries show whether these were chance.
    const paused = setUp({ serviceMs: (_, index) => (index === WARM_UP + 100 ? 50.5 : 0.1) });
    const { result } = await paused.run({ ...server, ratePerS: 250 });
    expect(result.earlyStopping?.overLatency).toBeGreaterThan(0);
    expect(result.earlyStopping).toMatchObject({ enough: true });
    expect(result.queries).toBeGreaterThan(held.result.queries);
  });

  it("ends an overload early, waits for what is under way, and leaves the next run in peace", async () => {
    const { run, under, clock } = setUp({ serviceMs: () => 10 });
    const { result } = await run({ ...server, boundMs: 100_000, minDurationMs: 1_000_000, ratePerS: 1_000 });
    expect(result.server?.highestRatePerS).toBeNull();
    expect(under.mostUnderWay).toBe(LIMITS.outstandingQueries);
    expect(under.underWay).toBe(0);
    expect(clock.now()).toBeLessThan(20_000);
    const sound = await run({ ...server, ratePerS: 20 });
    expect(sound.result.server?.highestRatePerS).toBe(20);
  });

  it("counts errors as over latency", async () => {
    const { run } = setUp({ serviceMs: () => 1, fails: (index) => index % 30 === 0 });
    const { result } = await run({ ...server, ratePerS: 400 });
    expect(result.server?.highestRatePerS).toBeNull();
    expect(result.errors).toBeGreaterThan(0);
    expect(result.errorCodes).toEqual({ overloaded: result.errors });
    expect(result.earlyStopping).toMatchObject({ overLatency: result.errors, enough: false });
  });

  it("sends the same arrivals for the same seed", async () => {
    const again = await Promise.all(
      [1, 1, 2].map(async (seed) => {
        const { run } = setUp({ serviceMs: () => 3 }, { seed });
        return (await run({ ...server, ratePerS: 250 })).latenciesMs;
      }),
    );
    expect(again[0]).toEqual(again[1]);
    expect(again[0]).not.toEqual(again[2]);
  });

  it("sends as few as requested, and says how many would have been enough", async () => {
    const { run } = setUp({ serviceMs: () => 1 });
    const { result } = await run({ ...server, minDurationMs: 100, minQueries: 20, ratePerS: 100 });
    expect(result.queries).toBe(20);
    expect(result.earlyStopping).toMatchObject({ overLatency: 0, minQueries: 459, enough: false });
    expect(result.server?.highestRatePerS).toBeNull();
  });

  it("does not hold where the deadline cut it", async () => {
    const { run } = setUp({ serviceMs: () => 1 }, { deadlineMs: 1_900 });
    const { result } = await run({ ...server, ratePerS: 400 });
    expect(result.earlyStopping?.enough).toBe(true);
    expect(result.server?.highestRatePerS).toBeNull();
  });
});

describe("the search for the highest rate of a server", () => {
  const search = { kind: "server", boundMs: 40, minDurationMs: 2_000, confirmations: 2 };

  it("finds a rate below the capacity of one server, and near it", async () => {
    // With 4 ms a query it bears 250/s at most; the p99 of its queue is 40 ms at about 200/s.
    const { run, under } = setUp({ serviceMs: (_, index) => 3.8 + 0.4 * randomAt(index, 5) });
    const { result, latenciesMs } = await run(search);
    const { highestRatePerS, curve, front, searched } = result.server!;
    expect(searched).toBe(true);
    expect(highestRatePerS).toBeGreaterThan(150);
    expect(highestRatePerS).toBeLessThan(235);
    const repeated = curve.filter((trial) => trial.confirms && trial.ratePerS === highestRatePerS);
    const confirming = repeated.filter(({ holds }) => holds);
    expect(confirming).toHaveLength(2);
    expect(repeated.length).toBeLessThanOrEqual(3);
    // The result describes the repetitions that held, not the run that chose the rate.
    expect(result.queries).toBe(confirming.reduce((sum, { queries }) => sum + queries, 0));
    expect(latenciesMs).toHaveLength(result.queries);
    expect(result.earlyStopping).toMatchObject({ percentile: 0.99, enough: true });
    expect(curve.some(({ holds }) => !holds)).toBe(true);
    expect(front.length).toBeGreaterThan(1);
    const latencies = front.map(({ percentileMs }) => percentileMs);
    expect(latencies).toEqual(latencies.toSorted((a, b) => a - b));
    expect(under.underWay).toBe(0);
  });

  it("says that none holds where one query alone is over the bound", async () => {
    const { run } = setUp({ serviceMs: () => 50 });
    const { result } = await run(search);
    expect(result.server?.highestRatePerS).toBeNull();
    expect(result.server?.front.length).toBeGreaterThan(0);
    expect(result.percentiles.find(({ percentile }) => percentile === 0.99)?.ms).toBeGreaterThan(40);
  });

  it("ends with its deadline, and leaves nothing under way", async () => {
    const { run, clock } = setUp({ serviceMs: () => 4 }, { deadlineMs: 12_000 });
    const { result } = await run(search);
    expect(clock.now()).toBeLessThanOrEqual(12_000);
    expect(result.server?.curve.length).toBeLessThan(8);
  });
});

describe("a closed loop", () => {
  it("keeps so many queries in flight", async () => {
    const { under, options } = setUp({ serviceMs: () => 2 });
    const load = { concurrency: 4, samplesPerQuery: 2, minDurationMs: 1_000, minQueries: 10 };
    const run = await runClosedLoop(under, { ...options, ...load });
    expect(under.mostUnderWay).toBe(4);
    expect(run.latencyMs?.p50).toBe(8);
    expect(run.samplesPerS).toBeCloseTo(1_000, 0);
    expect(run.queries).toBe(run.latenciesMs.length);
    expect(run.errors).toBe(0);
  });
});
