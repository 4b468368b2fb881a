import { describe, expect, it } from "vitest";
import {
  searchCandidates,
  SUCCESSIVE_HALVING,
  type TunerOutcome,
  type TunerReport,
  type TunerStep,
} from "../../../../src/gpu-runner/kernels/tuning/tuner.ts";
import { fc } from "../../property.ts";

interface Device {
  /** Duration of a run of each candidate; a text is its error. */
  readonly candidates: readonly (number | string)[];
  readonly hasDefault?: boolean;
  readonly budgetMs: number;
  readonly checkMs?: number;
  /** Time before the first check is done: uploads, the reference, a device that wakes. */
  readonly startMs?: number;
  /** Factor by which all runs of a moment are slower. */
  readonly drift?: (elapsedMs: number) => number;
  readonly settings?: typeof SUCCESSIVE_HALVING;
}

/** Runs a search on a simulated device: returns its requests, and the elapsed time. */
function play({
  candidates,
  hasDefault = true,
  budgetMs,
  checkMs = 1,
  startMs = 0,
  drift = () => 1,
  settings,
}: Device) {
  const steps: TunerStep[] = [];
  let elapsedMs = startMs;
  const answer = (step: TunerStep): TunerReport => {
    steps.push(step);
    const time = candidates[step.candidate];
    if (step.kind === "check") elapsedMs += checkMs;
    if (typeof time === "string") return { elapsedMs, outcome: "wrong", reason: time };
    const ms = (time ?? Number.NaN) * drift(elapsedMs);
    elapsedMs += step.kind === "check" && ms <= step.hopelessMs ? 2 * ms : ms;
    return { elapsedMs, outcome: "ran", ms };
  };
  const search = searchCandidates(candidates.length, hasDefault, budgetMs, settings);
  let state = search.next();
  while (!state.done) state = search.next(answer(state.value));
  const outcome: TunerOutcome = state.value;
  return { outcome, steps, elapsedMs, runsOf: (candidate: number) => outcome.trials[candidate]?.rungsMs.flat().length };
}

const times = fc.array(fc.integer({ min: 1, max: 1_000 }), { minLength: 1, maxLength: 40 });
const PLENTY_MS = 1e9;

/** The fastest; the default where it is as fast as any. */
function fastestOf(candidates: readonly number[]): number {
  return candidates.indexOf(Math.min(...candidates));
}

describe("a search with time enough", () => {
  it("finds the fastest where times are consistent, whatever drifts for all alike", () => {
    fc.assert(
      fc.property(times, fc.boolean(), (candidates, drifts) => {
        // Slow enough that a round sees one speed, nearly.
        const drift = drifts ? (elapsedMs: number) => 1 + elapsedMs / 1e9 : () => 1;
        const { outcome } = play({ candidates, budgetMs: PLENTY_MS, drift });
        const fastest = candidates[fastestOf(candidates)];
        expect(candidates[outcome.best ?? -1]).toBe(fastest);
        expect(outcome.complete).toBe(true);
      }),
    );
  });

  it("says what was gained over the default, and keeps the default where nothing was", () => {
    const { outcome } = play({ candidates: [10, 40, 5, 20], budgetMs: PLENTY_MS });
    expect(outcome).toMatchObject({ best: 2, gain: { ratio: 2, low: 2, high: 2 } });
    expect(outcome.bestMs).toHaveLength(SUCCESSIVE_HALVING.lastRounds);
    expect(outcome.untunedMs).toEqual(Array.from({ length: SUCCESSIVE_HALVING.lastRounds }, () => 10));
    expect(play({ candidates: [10, 10, 12], budgetMs: PLENTY_MS }).outcome).toMatchObject({
      best: 0,
      gain: { ratio: 1, low: 1, high: 1 },
    });
  });

  it("times the default to the last rung, as often as the best", () => {
    fc.assert(
      fc.property(times, (candidates) => {
        const { outcome } = play({ candidates, budgetMs: PLENTY_MS });
        expect(outcome.untunedMs).toHaveLength(SUCCESSIVE_HALVING.lastRounds);
        const rungs = outcome.trials.map(({ rungsMs }) => rungsMs.length);
        expect(rungs[0]).toBe(Math.max(...rungs));
      }),
    );
  });

  it("lets the candidates of a rung take turns", () => {
    const { steps } = play({ candidates: [4, 5, 6, 7], budgetMs: PLENTY_MS });
    const runs = steps.filter(({ kind, rung }) => kind === "run" && rung === 1);
    expect(runs.map(({ candidate }) => candidate)).toEqual([0, 1, 2, 3, 1, 2, 3, 0]);
    expect(steps.map(({ rung, candidatesLeft }) => `${rung}/${candidatesLeft}`)).toEqual(
      expect.arrayContaining(["0/4", "1/4", "2/2"]),
    );
  });

  it("times nothing that is wrong, and says what was", () => {
    const { outcome, steps } = play({ candidates: [10, "off by one", 20, "NaN"], budgetMs: PLENTY_MS });
    expect(outcome.trials[1]).toEqual({ outcome: "wrong", reason: "off by one", rungsMs: [] });
    expect(steps.filter(({ kind, candidate }) => kind === "run" && candidate % 2 === 1)).toEqual([]);
    expect(outcome.best).toBe(0);
  });

  it("does without a default that is wrong or does not fit, and then knows no gain", () => {
    for (const [candidates, hasDefault] of [
      [["broken", 20, 10], true],
      [[30, 20, 10], false],
    ] as const) {
      const { outcome } = play({ candidates, hasDefault, budgetMs: PLENTY_MS });
      expect(outcome).toMatchObject({ best: 2, gain: null, untunedMs: null });
    }
    expect(play({ candidates: ["a", "b"], budgetMs: PLENTY_MS }).outcome.best).toBeNull();
    expect(play({ candidates: [], hasDefault: false, budgetMs: PLENTY_MS }).outcome.best).toBeNull();
  });

  it("gives up after its check what is far slower than the fastest, but never the default", () => {
    const { outcome, runsOf } = play({ candidates: [100, 10, 41, 39], budgetMs: PLENTY_MS });
    expect(outcome.trials.map((trial) => trial.outcome)).toEqual(["timed", "timed", "too-slow", "timed"]);
    expect(outcome.trials[2]?.reason).toBe("it took 41.0 ms, the fastest 10.0 ms");
    expect(runsOf(2)).toBe(1);
    expect(outcome).toMatchObject({ best: 1, gain: { ratio: 10 } });
  });

  it("needs far fewer runs than timing everything as often as the last two", () => {
    const candidates = Array.from({ length: 40 }, (_, index) => 10 + ((index * 7) % 20));
    const exhaustive = { ...SUCCESSIVE_HALVING, firstRounds: SUCCESSIVE_HALVING.lastRounds, keep: 0 };
    const halving = play({ candidates, budgetMs: PLENTY_MS });
    const all = play({ candidates, budgetMs: PLENTY_MS, settings: exhaustive });
    expect(candidates[halving.outcome.best ?? 0]).toBe(candidates[all.outcome.best ?? 0]);
    expect(halving.steps.length * 3).toBeLessThan(all.steps.length);
  });
});

describe("a search under a budget", () => {
  const budgets = fc.integer({ min: 1, max: 20_000 });

  it("ends within it, but for the check that is under way", () => {
    fc.assert(
      fc.property(times, budgets, fc.integer({ min: 0, max: 500 }), (candidates, budgetMs, checkMs) => {
        const { elapsedMs, outcome } = play({ candidates, budgetMs, checkMs });
        const slowestCheckMs = checkMs + 2 * Math.max(...candidates);
        expect(elapsedMs).toBeLessThanOrEqual(budgetMs + slowestCheckMs);
        expect(outcome.best).not.toBeNull();
        expect(outcome.trials[0]?.outcome).toBe("timed");
      }),
    );
  });

  it("stops at once when runs take longer than expected", () => {
    const suddenly = (elapsedMs: number) => (elapsedMs > 500 ? 100 : 1);
    const { elapsedMs, outcome } = play({ candidates: [10, 11, 12, 13], budgetMs: 1_000, drift: suddenly });
    expect(elapsedMs).toBeLessThanOrEqual(1_000 + 1_300);
    expect(outcome.complete).toBe(false);
  });

  it("says what it had no time for", () => {
    const { outcome } = play({ candidates: Array.from({ length: 20 }, () => 10), budgetMs: 600, checkMs: 30 });
    expect(outcome.complete).toBe(false);
    expect(outcome.trials.at(-1)).toEqual({ outcome: "untried", reason: null, rungsMs: [] });
  });

  it("does not take the time before the first check for that of a check", () => {
    const candidates = Array.from({ length: 20 }, (_, index) => (20 - index) / 10);
    const { outcome } = play({ candidates, budgetMs: 4_000, startMs: 2_500, checkMs: 5 });
    expect(outcome.trials.filter((trial) => trial.outcome === "untried")).toEqual([]);
    expect(outcome.best).toBe(19);
  });

  it("leaves the default where it could not make sure of anything better", () => {
    const { outcome } = play({ candidates: [10, 5], budgetMs: 1, checkMs: 10 });
    expect(outcome).toMatchObject({ best: 0, complete: false });
    const twice = play({ candidates: [10, 5], budgetMs: 100, checkMs: 1 }).outcome;
    expect(twice).toMatchObject({ best: 1, gain: { ratio: 2, low: null, high: null } });
  });

  it("does the same again under the same times", () => {
    fc.assert(
      fc.property(times, budgets, (candidates, budgetMs) => {
        const [a, b] = [play({ candidates, budgetMs }), play({ candidates, budgetMs })];
        expect(a.steps).toEqual(b.steps);
        expect(a.outcome).toEqual(b.outcome);
      }),
    );
  });
});
