import { describe, expect, test } from "vitest";
import {
  type LoadGoal,
  type LoadObservation,
  type LoadSetting,
  type LoadState,
  startLoad,
  stepLoad,
} from "../../../../src/gpu-runner/kernels/throughput/utilisation.ts";
import { fc } from "../../property.ts";

const goal: LoadGoal = { targetBusyShare: 0.9, latencyBudgetMs: null, mode: "careful", maxDepth: 8, maxBatch: 64 };

/**
 * A device that computes `itemMs` an item and waits `gapMs` around each submission, which neighbours in
 * flight hide; copies go on beside the computing.
 */
function device(itemMs: number, gapMs: number) {
  return ({ depth, batch }: LoadSetting): LoadObservation => {
    const computeMs = itemMs * batch;
    const cycleMs = Math.max(computeMs, (computeMs + gapMs) / depth);
    return { busyShare: computeMs / cycleMs, latencyMs: depth * cycleMs };
  };
}

function run(state: LoadState, see: (setting: LoadSetting) => LoadObservation, to: LoadGoal, intervals: number) {
  const settings: LoadSetting[] = [];
  let current = state;
  for (let interval = 0; interval < intervals; interval++) {
    current = stepLoad(current, see(current.setting), to).state;
    settings.push(current.setting);
  }
  return settings;
}

describe.each(["careful", "aggressive"] as const)("%s", (mode) => {
  test("reaches the target by depth where gaps can be hidden, and stays", () => {
    const settings = run(startLoad({ depth: 1, batch: 1 }), device(1, 3), { ...goal, mode }, 30);
    const last = settings.at(-1)!;
    expect(device(1, 3)(last).busyShare).toBeGreaterThanOrEqual(goal.targetBusyShare);
    expect(last.batch).toBe(1);
    expect(settings.slice(-10).every(({ depth }) => depth === last.depth)).toBe(true);
  });

  test("reaches it by larger batches where depth does not help", () => {
    const see = ({ batch }: LoadSetting) => ({ busyShare: batch / (batch + 2), latencyMs: batch });
    const last = run(startLoad({ depth: 1, batch: 1 }), see, { ...goal, mode }, 30).at(-1)!;
    expect(see(last).busyShare).toBeGreaterThanOrEqual(goal.targetBusyShare);
    expect(last.depth).toBeLessThanOrEqual(2);
  });

  test("ends within the latency budget, from whatever setting it begins", () => {
    fc.assert(
      fc.property(
        fc.double({ min: 0.01, max: 1, noNaN: true }),
        fc.double({ min: 0.01, max: 20, noNaN: true }),
        fc.integer({ min: 1, max: 8 }),
        fc.integer({ min: 1, max: 64 }),
        (itemMs, gapMs, depth, batch) => {
          const see = device(itemMs, gapMs);
          const latencyBudgetMs = 1.5 * see({ depth: 1, batch: 1 }).latencyMs;
          const settings = run(startLoad({ depth, batch }), see, { ...goal, mode, latencyBudgetMs }, 60);
          // A relaxed ceiling may be tried again; a setting that breaks the budget is left at once.
          const broken = settings.slice(20).filter((setting) => see(setting).latencyMs > latencyBudgetMs);
          expect(broken.length).toBeLessThanOrEqual(4);
        },
      ),
    );
  });
});

test("never leaves the bounds", () => {
  const observation = fc.record({
    busyShare: fc.double({ min: 0, max: 1, noNaN: true }),
    latencyMs: fc.double({ min: 0, max: 1e4, noNaN: true }),
  });
  fc.assert(
    fc.property(fc.array(observation, { maxLength: 60 }), fc.constantFrom("careful", "aggressive"), (seen, mode) => {
      let state = startLoad({ depth: 2, batch: 3 });
      for (const each of seen) {
        const decision = stepLoad(state, each, { ...goal, mode, latencyBudgetMs: 100 });
        state = decision.state;
        expect(decision.forecast.busyShare).toBeGreaterThanOrEqual(0);
        expect(decision.forecast.busyShare).toBeLessThanOrEqual(1);
        expect(state.setting.depth).toBeGreaterThanOrEqual(1);
        expect(state.setting.depth).toBeLessThanOrEqual(goal.maxDepth);
        expect(state.setting.batch).toBeGreaterThanOrEqual(1);
        expect(state.setting.batch).toBeLessThanOrEqual(goal.maxBatch);
      }
    }),
  );
});

test("acts on a forecast, before the budget is broken", () => {
  const tight: LoadGoal = { ...goal, latencyBudgetMs: 100 };
  let state = startLoad({ depth: 4, batch: 8 });
  const moves = [60, 75, 90, 98].map((latencyMs) => {
    const decision = stepLoad(state, { busyShare: 0.95, latencyMs }, tight);
    state = decision.state;
    return decision.move;
  });
  expect(moves).toContain("narrow");
  expect(state.setting.batch).toBe(4);
});

test("at one item there is nothing to take back", () => {
  const decision = stepLoad(
    startLoad({ depth: 1, batch: 1 }),
    { busyShare: 0.1, latencyMs: 50 },
    {
      ...goal,
      latencyBudgetMs: 10,
    },
  );
  expect(decision.move).toBe("hold");
});
