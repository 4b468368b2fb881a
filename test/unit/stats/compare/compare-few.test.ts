import { describe, expect, it } from "vitest";
import { compareFew } from "../../../../src/stats/compare/compare-few.ts";
import { lehmer } from "../../../../src/stats/random/seeded.ts";
import { judgeThreshold } from "../../../../src/stats/compare/threshold.ts";

const history = [9, 10, 11, 10, 12, 8, 10, 11, 9, 10];
const lower = { direction: "lower" } as const;

describe("few values against a history", () => {
  it("have the limits of the threshold t-test, where there is one", () => {
    const { predicted } = compareFew(history, [10.5], { ...lower, confidence: 0.95 });
    const judged = judgeThreshold({ test: "t-test", lower: 0.975, upper: 0.975 }, history, 10.5, lower);
    expect(predicted.low).toBeCloseTo(judged.lowerLimit ?? Number.NaN, 10);
    expect(predicted.high).toBeCloseTo(judged.upperLimit ?? Number.NaN, 10);
  });

  it("are worse or better beyond them, whichever side is the history", () => {
    expect(compareFew(history, [20], lower)).toMatchObject({ verdict: "worse", ratio: { value: 2 } });
    expect(compareFew(history, [20], { direction: "higher" }).verdict).toBe("better");
    expect(compareFew([20], history, lower)).toMatchObject({ verdict: "better", ratio: { value: 0.5 } });
    expect(compareFew(history, [10.5], lower).verdict).toBe("unclear");
    const { summary } = compareFew(history, [20], lower);
    expect(summary).toMatch(/^B's mean is 100 % higher than A's, which is worse: outside of what A's 10 values let/);
  });

  it("need less of a distance where they are more", () => {
    const reach = (few: number[]) => compareFew(history, few, lower).predicted.high;
    expect(reach([10, 10, 10, 10])).toBeLessThan(reach([10]));
  });

  it("are never outside of a quiet history by less than the noise floor", () => {
    const quiet = [100, 100, 100, 100, 100];
    expect(compareFew(quiet, [100.9], lower).verdict).toBe("unclear");
    expect(compareFew(quiet, [101.5], lower)).toMatchObject({ verdict: "worse", p: 0 });
    expect(compareFew(quiet, [100], lower)).toMatchObject({ verdict: "same", p: 1 });
  });

  it("are compared by their difference where there is no ratio", () => {
    const around = [-1, 1, 0, 0.5, -0.5, 0];
    expect(compareFew(around, [50], lower)).toMatchObject({ ratio: null, verdict: "worse" });
    expect(compareFew(around, [0.2], lower)).toMatchObject({ ratio: null, verdict: "unclear" });
  });

  it("of the same distribution are called different as often as the confidence lets", () => {
    const draw = lehmer(7);
    const value = () => 100 + Array.from({ length: 12 }, draw).reduce((sum, each) => sum + each, -6);
    let called = 0;
    for (let trial = 0; trial < 1_000; trial++) {
      const verdict = compareFew(Array.from({ length: 12 }, value), [value()], { ...lower, confidence: 0.9 }).verdict;
      if (verdict === "worse" || verdict === "better") called++;
    }
    // 100 are expected, with a deviation of 9.5.
    expect(called).toBeGreaterThan(60);
    expect(called).toBeLessThan(140);
  });

  it("are refused where there is nothing to compare with", () => {
    expect(() => compareFew([1], [1], lower)).toThrow(RangeError);
    expect(() => compareFew([1, 2], [], lower)).toThrow(RangeError);
    expect(() => compareFew([1, Number.NaN], [1], lower)).toThrow(RangeError);
  });
});
