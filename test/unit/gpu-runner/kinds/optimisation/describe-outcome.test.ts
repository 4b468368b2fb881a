import { describe, expect, it } from "vitest";
import { describeOutcome } from "../../../../../src/gpu-runner/kinds/optimisation/describe-outcome.ts";
import {
  judgeMeasurement,
  type TrialMeasurement,
} from "../../../../../src/gpu-runner/kinds/optimisation/search-problem.ts";
import { type Candidate, OptimisationTrial } from "../../../../../src/protocol/jobs/optimisation.ts";
import { createProblem } from "../../../../../src/protocol/wire/problem.ts";

const PLACE = { deviceKey: "cpu", backend: "ort-cpu", variant: "fp32" } as const;
const candidates: Candidate[] = [1, 2, 4].map((threads) => ({ ...PLACE, threads, maxRows: 1, concurrency: 4 }));
const measured = (throughputPerS: number, latencyMs: number): TrialMeasurement => ({
  throughputPerS,
  latencyMs,
  memoryBytes: 100 * 2 ** 20,
  fidelity: 1,
  p50Ms: latencyMs / 2,
  queries: 50,
});
const stand = { candidates, standing: 0, eligible: 3 };
const targets = { percentile: 0.99, minFidelity: 0 };
const trial = (candidate: number, ...rounds: TrialMeasurement[]) => ({ candidate, rounds, predicted: null });

describe("a measurement", () => {
  it("misses targets by factors above 1, the worst first", () => {
    const wanted = { ...targets, latencyMs: 5, throughputPerS: 800, memoryBytes: 200 * 2 ** 20, minFidelity: 0.5 };
    expect(judgeMeasurement(measured(200, 10), wanted)).toEqual([
      { target: "throughputPerS", wanted: 800, found: 200, factor: 4 },
      { target: "latencyMs", wanted: 5, found: 10, factor: 2 },
    ]);
    expect(judgeMeasurement(measured(800, 5), wanted)).toEqual([]);
    expect(judgeMeasurement({ ...measured(800, 5), memoryBytes: null, fidelity: null }, wanted)).toEqual([]);
  });
});

describe("an outcome", () => {
  it("names the best, the front and the gain over the current configuration", () => {
    const [slow, fast, poor] = [measured(100, 8), measured(400, 10), measured(90, 20)];
    const outcome = {
      trials: [trial(0, slow), trial(1, fast, fast), trial(2, poor)],
      best: 1,
      nearest: null,
      complete: true,
    };
    const rounds = new Map([
      [0, [slow]],
      [1, [fast, fast]],
      [2, [poor]],
    ]);
    const told = describeOutcome({ targets }, stand, outcome, { rounds, problems: new Map() });
    expect(told).toMatchObject({
      candidates: 3,
      default: 0,
      best: 1,
      pareto: [0, 1],
      infeasible: null,
      complete: true,
    });
    expect(told.gain).toEqual({ throughput: expect.closeTo(4), latency: expect.closeTo(0.8) });
    expect(told.trials[1]).toMatchObject({ rounds: 2, queries: 100, throughputPerS: expect.closeTo(400) });
    for (const each of told.trials) expect(OptimisationTrial.safeParse(each).success).toBe(true);
  });

  it("has nothing on its front for a memory that is not known", () => {
    const [known, unknown] = [measured(400, 8), { ...measured(300, 9), memoryBytes: null }];
    const outcome = { trials: [trial(0, known), trial(1, unknown)], best: 0, nearest: null, complete: true };
    const rounds = new Map([
      [0, [known]],
      [1, [unknown]],
    ]);
    expect(describeOutcome({ targets }, stand, outcome, { rounds, problems: new Map() }).pareto).toEqual([0]);
  });

  it("says plainly what cannot be met, by how much, and what would be", () => {
    const near = measured(400, 10);
    const wanted = { ...targets, latencyMs: 5, throughputPerS: 500 };
    const outcome = { trials: [trial(1, near)], best: null, nearest: 0, complete: true };
    const { infeasible, best, gain } = describeOutcome({ targets: wanted }, stand, outcome, {
      rounds: new Map([[1, [near]]]),
      problems: new Map(),
    });
    expect([best, gain]).toEqual([null, null]);
    expect(infeasible?.misses.map(({ target }) => target)).toEqual(["latencyMs", "throughputPerS"]);
    expect(infeasible?.detail).toBe(
      "No configuration reaches every target. Nearest is fp32 by ort-cpu on cpu, 2 threads, batches up to 1, 4 in flight: " +
        "p99 latency is 10 ms where 5 ms is wanted (2 times too slow); throughput is 400/s where 500/s is wanted " +
        "(1.25 times too little). It would meet latencyMs 10 ms and throughputPerS 400/s.",
    );
    const cut = { ...outcome, complete: false };
    const again = describeOutcome({ targets: wanted }, stand, cut, {
      rounds: new Map([[1, [near]]]),
      problems: new Map(),
    });
    expect(again.infeasible?.detail).toContain("Nothing that was tried reaches every target");
  });

  it("keeps why a candidate failed", () => {
    const problem = createProblem("backend-failed", "It answers wrong.");
    const outcome = { trials: [trial(0, measured(1, 1)), trial(2)], best: 0, nearest: null, complete: false };
    const { trials, pareto } = describeOutcome({ targets }, stand, outcome, {
      rounds: new Map([[0, [measured(1, 1)]]]),
      problems: new Map([[2, problem]]),
    });
    expect(trials[1]).toMatchObject({ outcome: "failed", problem, throughputPerS: null });
    expect(pareto).toEqual([0]);
    expect(OptimisationTrial.safeParse(trials[1]).success).toBe(true);
  });
});
