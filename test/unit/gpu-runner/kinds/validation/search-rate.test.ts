import { describe, expect, it } from "vitest";
import {
  type RateOutcome,
  type RateReport,
  type RateSearch,
  type RateStep,
  searchRate,
} from "../../../../../src/gpu-runner/kinds/validation/search-rate.ts";
import { fc } from "../../../property.ts";
import { randomAt } from "./simulated-system.ts";

const SEARCH: RateSearch = {
  startRatePerS: 100,
  leastRatePerS: 1,
  mostRatePerS: 100_000,
  relativeWidth: 0.05,
  confirmations: 2,
  maxTrials: 64,
  expectMs: () => 1_000,
};

interface Tried extends RateStep {
  readonly holds: boolean;
}

/** Runs a search against the rates that hold, where a trial lasts a second of `budgetMs`. */
function play(
  search: RateSearch,
  holds: (ratePerS: number, trial: number) => boolean,
  budgetMs = Number.POSITIVE_INFINITY,
): { outcome: RateOutcome; tried: Tried[] } {
  const tried: Tried[] = [];
  const steps = searchRate(search);
  let step: IteratorResult<RateStep, RateOutcome> = steps.next();
  while (step.done !== true) {
    const found = { ...step.value, holds: holds(step.value.ratePerS, tried.length) };
    tried.push(found);
    const report: RateReport = { holds: found.holds, leftMs: Math.max(0, budgetMs - 1_000 * tried.length) };
    step = steps.next(report);
  }
  return { outcome: step.value, tried };
}

describe("the search for the highest rate", () => {
  it("ends within its width below the capacity, wherever it starts", () => {
    const capacity = fc.double({ min: 2, max: 90_000, noNaN: true });
    fc.assert(
      fc.property(capacity, fc.double({ min: 1, max: 100_000, noNaN: true }), (capacityPerS, startRatePerS) => {
        const { outcome, tried } = play({ ...SEARCH, startRatePerS }, (rate) => rate <= capacityPerS);
        expect(outcome.complete).toBe(true);
        expect(outcome.highestRatePerS).toBeLessThanOrEqual(capacityPerS);
        expect(outcome.highestRatePerS! * 1.05).toBeGreaterThanOrEqual(capacityPerS);
        expect(tried.slice(-2)).toEqual(
          Array.from({ length: 2 }, () => ({ ratePerS: outcome.highestRatePerS, confirms: true, holds: true })),
        );
        expect(tried.length).toBeLessThan(48);
      }),
    );
  });

  it("gives only a rate that held once more than it was to be confirmed, whatever the noise", () => {
    fc.assert(
      fc.property(fc.nat(1e6), fc.integer({ min: 1, max: 4 }), (seed, confirmations) => {
        // Around the capacity it holds or not by chance, surely only a third away from it.
        const holds = (rate: number, trial: number) => rate * (0.67 + 0.66 * randomAt(trial, seed)) <= 500;
        const { outcome, tried } = play({ ...SEARCH, confirmations }, holds);
        expect(tried.length).toBeLessThanOrEqual(64);
        const rate = outcome.highestRatePerS;
        expect(rate === null).toBe(!outcome.complete);
        if (rate === null) return;
        const atIt = tried.filter(({ ratePerS }) => ratePerS === rate);
        expect(atIt.filter((trial) => trial.holds).length).toBeGreaterThan(confirmations);
        const repeated = atIt.filter(({ confirms }) => confirms);
        expect(repeated.filter((trial) => trial.holds)).toHaveLength(confirmations);
        expect(repeated.length).toBeLessThanOrEqual(confirmations + 1);
        expect(tried.at(-1)).toEqual({ ratePerS: rate, confirms: true, holds: true });
        expect(rate).toBeLessThanOrEqual(500 / 0.67);
        expect(rate).toBeGreaterThan(150);
      }),
    );
  });

  it("says that no rate holds, once the lowest does not", () => {
    const { outcome, tried } = play(SEARCH, () => false);
    expect(outcome).toEqual({ highestRatePerS: null, complete: true });
    expect(tried.at(-1)?.ratePerS).toBe(1);
    expect(tried.some(({ confirms }) => confirms)).toBe(false);
  });

  it("ends at the cap where all rates hold", () => {
    const { outcome, tried } = play(SEARCH, () => true);
    expect(outcome).toEqual({ highestRatePerS: 100_000, complete: true });
    expect(tried.filter(({ ratePerS }) => ratePerS === 100_000)).toHaveLength(3);
  });

  it("steps down where repetitions fail twice, and confirms there", () => {
    // 100, 200 and the cap of 400 hold, but not the first times that it is repeated.
    const { outcome, tried } = play({ ...SEARCH, mostRatePerS: 400 }, (_, trial) => trial !== 3 && trial !== 4);
    expect(outcome.highestRatePerS).toBeCloseTo(400 / 1.05, 9);
    expect(tried.map(({ confirms }) => confirms)).toEqual([false, false, false, true, true, false, true, true]);
  });

  it("asks once more where one repetition fails", () => {
    const { outcome, tried } = play({ ...SEARCH, mostRatePerS: 400 }, (_, trial) => trial !== 3);
    expect(outcome.highestRatePerS).toBe(400);
    expect(tried.map(({ confirms }) => confirms)).toEqual([false, false, false, true, true, true]);
  });

  it("is not sent elsewhere by one hiccup", () => {
    const { outcome } = play(SEARCH, (rate, trial) => trial !== 0 && rate <= 5_000);
    expect(outcome.highestRatePerS).toBeGreaterThan(5_000 / 1.05);
  });

  it("keeps time for the repetitions, and gives nothing that was not repeated", () => {
    const holds = (rate: number) => rate <= 333;
    // 100, 200, and 400 twice; then the time for 200 again, twice.
    expect(play(SEARCH, holds, 6_500).outcome).toEqual({ highestRatePerS: 200, complete: true });
    expect(play(SEARCH, holds, 5_000).outcome).toEqual({ highestRatePerS: null, complete: false });
    const { tried, outcome } = play({ ...SEARCH, maxTrials: 7 }, holds);
    expect(tried).toHaveLength(7);
    expect(outcome.highestRatePerS).not.toBeNull();
  });
});
