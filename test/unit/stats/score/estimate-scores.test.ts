import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { compareScores } from "../../../../src/stats/score/compare-scores.ts";
import { estimateScores } from "../../../../src/stats/score/estimate-scores.ts";
import type { TaskScores } from "../../../../src/stats/score/score-atoms.ts";
import { sfc32 } from "../../../../src/stats/random/seeded.ts";

/** Scores with their statistics and intervals by rliable 1.2.0 (PyPI, with arch 7.2.0, NumPy 2.4.6, SciPy 1.17.1). */
interface Published {
  readonly x: number[][];
  readonly y: number[][];
  readonly mean: number;
  readonly iqm: number;
  readonly median: number;
  readonly optimalityGap: number;
  readonly low: number[];
  readonly high: number[];
  readonly taus: number[];
  readonly profile: number[];
  readonly profileLow: number[];
  readonly profileHigh: number[];
  readonly probability: number;
  readonly probabilityLow: number;
  readonly probabilityHigh: number;
}
const rliable: { readonly cases: readonly Published[] } = JSON.parse(
  readFileSync(new URL("rliable.json", import.meta.url), "utf8"),
);

const plan = { seed: 1, resamples: 50_000, work: 1e9 };

/** Runs × tasks, as rliable has them, task by task. */
function toTasks(runs: readonly (readonly number[])[]): TaskScores[] {
  return (runs[0] ?? []).map((_, task) => ({
    scores: Float64Array.from(runs, (run) => run[task] ?? Number.NaN),
    episodes: runs.length,
  }));
}

/** Evenly many members, whose episodes differ by a draw that all share and one of their own. */
function drawMembers(members: number, episodes: number, shared: number): TaskScores {
  const draw = sfc32(members + episodes);
  const uniform = () => draw(1e6) / 1e6;
  const common = Array.from({ length: episodes }, () => shared * uniform());
  return {
    scores: Float64Array.from({ length: members * episodes }, (_, at) => common[at % episodes]! + uniform()),
    episodes,
  };
}

describe("scores over tasks", () => {
  it("have the statistics of the published check", () => {
    const found = estimateScores(toTasks(rliable.cases[0]!.x), [0.5], { ...plan, resamples: 500 });
    expect(found.iqm.value).toBeCloseTo(0.625, 12);
    expect(found.median.value).toBeCloseTo(0.875, 12);
    expect(found.optimalityGap.value).toBeCloseTo(0.4, 12);
    expect(found.profile[0]?.value).toBe(0.5);
  });

  // Four runs of two tasks have few resamples that differ, so a bound may fall on the next one.
  it.each(rliable.cases.slice(1).map((each) => [`${each.x.length} × ${each.x[0]?.length}`, each] as const))(
    "are those of rliable with its intervals: %s",
    (_, each) => {
      const tasks = toTasks(each.x);
      const found = estimateScores(tasks, each.taus, plan);
      const names = ["mean", "iqm", "median", "optimalityGap"] as const;
      expect(found.resamples).toBe(50_000);
      for (const [at, name] of names.entries()) {
        // Of one task, rliable's median is its mean; ours is its middle score.
        if (name === "median" && tasks.length === 1) continue;
        expect(found[name].value, name).toBeCloseTo(each[name], 10);
        const width = each.high[at]! - each.low[at]!;
        expect(Math.abs(found[name].low - each.low[at]!), `${name} low`).toBeLessThan(0.03 * width);
        expect(Math.abs(found[name].high - each.high[at]!), `${name} high`).toBeLessThan(0.03 * width);
      }
      for (const [at, { value, low, high }] of found.profile.entries()) {
        expect(value).toBeCloseTo(each.profile[at]!, 12);
        expect(Math.abs(low - each.profileLow[at]!) + Math.abs(high - each.profileHigh[at]!)).toBeLessThan(0.09);
      }
    },
  );

  it("are the same from the same seed", () => {
    const tasks = toTasks(rliable.cases[1]!.x);
    const few = { ...plan, resamples: 500 };
    expect(estimateScores(tasks, [0.5], few)).toEqual(estimateScores(tasks, [0.5], few));
    expect(estimateScores(tasks, [0.5], { ...few, seed: 2 }).mean.low).not.toBe(
      estimateScores(tasks, [0.5], few).mean.low,
    );
  });

  it("of one score have no width, and of none are refused", () => {
    const one = estimateScores([{ scores: Float64Array.of(0.3), episodes: 1 }], [0.5], { ...plan, resamples: 500 });
    expect(one.mean).toEqual({ value: 0.3, low: 0.3, high: 0.3 });
    expect(() => estimateScores([{ scores: new Float64Array(), episodes: 0 }], [], plan)).toThrow("no scores");
    expect(() => estimateScores([], [], plan)).toThrow("no scores");
  });

  it("draw an episode with all its members, so that what they share is not averaged away", () => {
    const few = { ...plan, resamples: 2_000 };
    const width = (shared: number) => {
      const { mean } = estimateScores([drawMembers(50, 40, shared)], [], few);
      return mean.high - mean.low;
    };
    // Half a common draw of a uniform has the deviation 0.29: ± 1.96 · 0.29/√40.
    expect(width(1)).toBeGreaterThan(0.15);
    expect(width(0)).toBeLessThan(0.04);
  });

  it("of many members and values are bounded in work and come out close", () => {
    const tasks = [drawMembers(2_000, 20, 0.1)];
    const found = estimateScores(tasks, [0.5], { ...plan, work: 1e7 });
    const sorted = tasks[0]!.scores.toSorted();
    const middle = sorted.subarray(sorted.length / 4, sorted.length - sorted.length / 4);
    expect(found.resamples).toBe(400);
    expect(found.iqm.value).toBeCloseTo(middle.reduce((sum, value) => sum + value, 0) / middle.length, 4);
    expect(found.profile[0]?.value).toBeCloseTo(sorted.filter((value) => value > 0.5).length / sorted.length, 3);
  });
});

describe("one side against another", () => {
  it.each(rliable.cases.map((each) => [`${each.x.length} × ${each.x[0]?.length}`, each] as const))(
    "has rliable's probability of improvement: %s",
    (_, { x, y, probability, probabilityLow, probabilityHigh }) => {
      const [a, b] = [toTasks(x), toTasks(y)];
      const tasks = a.map((task, at) => ({ a: task, b: b[at]!, paired: false }));
      const found = compareScores(tasks, { ...plan, resamples: 10_000 });
      expect(found.probabilityOfImprovement.value).toBeCloseTo(probability, 12);
      const bounds = [found.probabilityOfImprovement.low, found.probabilityOfImprovement.high];
      expect(Math.abs(bounds[0]! - probabilityLow) + Math.abs(bounds[1]! - probabilityHigh)).toBeLessThan(0.05);
    },
  );

  it("is decided by far fewer episodes where they are the same for both", () => {
    const a = drawMembers(1, 60, 20);
    const b = { scores: a.scores.map((score) => score + 0.5), episodes: 60 };
    const few = { ...plan, resamples: 2_000 };
    const paired = compareScores([{ a, b, paired: true }], few).difference;
    const apart = compareScores([{ a, b, paired: false }], few).difference;
    expect(paired.value).toBeCloseTo(0.5, 12);
    expect([paired.low, paired.high].map((bound) => Number(bound.toFixed(9)))).toEqual([0.5, 0.5]);
    expect(apart.low).toBeLessThan(0);
    expect(() => compareScores([{ a, b: drawMembers(1, 50, 1), paired: true }], few)).toThrow("same episodes");
  });
});
