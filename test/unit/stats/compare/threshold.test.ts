import { describe, expect, it } from "vitest";
import { judgeThreshold, type Threshold } from "../../../../src/stats/compare/threshold.ts";
import { fc } from "../../property.ts";

const history = [102.1, 99.4, 101.7, 98.2, 100.9, 103.3, 97.8, 100.2, 99.9, 104.6, 101.1, 98.8];
const lower = { direction: "lower" } as const;

/** 25 values of mean 100 and standard deviation 10. */
const reference = Array.from({ length: 25 }, (_, index) => 100 + ((index - 12) * 10) / Math.sqrt(1_300 / 24));

describe("a threshold", () => {
  // By NumPy and SciPy: mean, percentile, norm.ppf, t.ppf and lognorm.ppf.
  it.each<[Threshold, number, number, number]>([
    [{ test: "percentage", lower: 0.05, upper: 0.1 }, 100.66666666666664, 95.63333333333331, 110.7333333333333],
    [{ test: "z-score", lower: 0.98, upper: 0.98 }, 100.66666666666664, 96.46837594422588, 104.8649573891074],
    [{ test: "t-test", lower: 0.98, upper: 0.98 }, 100.66666666666664, 95.71313118924579, 105.6202021440875],
    [{ test: "log-normal", lower: 0.98, upper: 0.98 }, 100.6477317894102, 96.37679019121951, 104.91867338760089],
    [{ test: "iqr", lower: 2, upper: 3 }, 100.55, 95.45, 108.2],
    [{ test: "delta-iqr", lower: 2, upper: 3 }, 100.55, 98.44337802381399, 103.70993296427903],
  ])("%j has the limits of its formula", (threshold, baseline, lowerLimit, upperLimit) => {
    const found = judgeThreshold(threshold, history, 100, lower);
    expect(found).toMatchObject({ verdict: "pass", noiseFloorUsed: false });
    expect(found.baseline).toBeCloseTo(baseline, 10);
    expect(found.lowerLimit).toBeCloseTo(lowerLimit, 10);
    expect(found.upperLimit).toBeCloseTo(upperLimit, 10);
  });

  it.each([
    ["t-test", 78.54, 121.46],
    ["z-score", 80.05, 119.95],
  ] as const)("%s has Bencher's limits of mean 100, deviation 10 and 25 points", (test, lowerLimit, upperLimit) => {
    const found = judgeThreshold({ test, lower: 0.977, upper: 0.977 }, reference, 100, lower);
    expect(found.baseline).toBeCloseTo(100, 12);
    expect(found.lowerLimit).toBeCloseTo(lowerLimit, 2);
    expect(found.upperLimit).toBeCloseTo(upperLimit, 2);
  });

  it("that is static needs no history", () => {
    const threshold: Threshold = { test: "static", upper: 5 };
    expect(judgeThreshold(threshold, [], 5, lower)).toEqual({
      verdict: "pass",
      baseline: null,
      lowerLimit: null,
      upperLimit: 5,
      noiseFloorUsed: false,
    });
    expect(judgeThreshold(threshold, [], 5.1, lower).verdict).toBe("regression");
    expect(judgeThreshold({ test: "static", lower: 0 }, [], -0.1, lower).verdict).toBe("improvement");
  });

  it("calls the worse side a regression and the better one an improvement", () => {
    const threshold: Threshold = { test: "t-test", lower: 0.98, upper: 0.98 };
    const verdict = (value: number, direction: "lower" | "higher") =>
      judgeThreshold(threshold, history, value, { direction }).verdict;
    expect([verdict(106, "lower"), verdict(106, "higher")]).toEqual(["regression", "improvement"]);
    expect([verdict(95, "lower"), verdict(95, "higher")]).toEqual(["improvement", "regression"]);
    expect(judgeThreshold({ test: "t-test", upper: 0.98 }, history, 1, lower)).toMatchObject({
      verdict: "pass",
      lowerLimit: null,
    });
  });

  it("never passes on too little history", () => {
    const judge = (length: number, minSample?: number) =>
      judgeThreshold({ test: "t-test", upper: 0.98, minSample }, history.slice(0, length), 100, lower);
    expect(judge(4)).toEqual({
      verdict: "insufficient-history",
      baseline: null,
      lowerLimit: null,
      upperLimit: null,
      noiseFloorUsed: false,
    });
    expect(judge(5).verdict).toBe("pass");
    expect([judge(9, 10).verdict, judge(10, 10).verdict]).toEqual(["insufficient-history", "pass"]);
    expect([judge(1, 1).verdict, judge(2, 1).verdict]).toEqual(["insufficient-history", "pass"]);
  });

  it.each(["z-score", "t-test", "log-normal", "iqr", "delta-iqr"] as const)(
    "%s alerts beyond the noise floor where nothing varied, and says so",
    (test) => {
      const boundary = test.endsWith("iqr") ? 3 : 0.98;
      const judge = (value: number, noiseFloor?: number) =>
        judgeThreshold({ test, lower: boundary, upper: boundary }, [200, 200, 200, 200, 200], value, {
          direction: "lower",
          noiseFloor,
        });
      expect(judge(201.9)).toMatchObject({ verdict: "pass", noiseFloorUsed: true });
      expect(judge(202.1).verdict).toBe("regression");
      expect(judge(197.9).verdict).toBe("improvement");
      expect(judge(202.1, 0.05).verdict).toBe("pass");
      expect(judge(200.1, 0)).toMatchObject({ verdict: "regression", noiseFloorUsed: false });
    },
  );

  it("takes a percentage at its word, and of a negative mean too", () => {
    const threshold: Threshold = { test: "percentage", lower: 0.001, upper: 0.001 };
    const found = judgeThreshold(threshold, [-100, -100, -100, -100, -100], -99.8, lower);
    expect(found).toMatchObject({ verdict: "regression", noiseFloorUsed: false });
    expect([found.lowerLimit, found.upperLimit]).toEqual([-100.1, -99.9]);
  });

  it("says that it cannot judge by values that it has no answer for", () => {
    const judge = (test: "z-score" | "log-normal" | "iqr" | "delta-iqr", values: number[]) =>
      judgeThreshold({ test, upper: 0.9 }, values, 1, lower);
    const unusable = { verdict: "unusable-history", baseline: null, upperLimit: null };
    expect(judge("log-normal", [1, 2, 0, 2, 1])).toMatchObject(unusable);
    expect(judge("log-normal", [1, 2, -3, 2, 1])).toMatchObject(unusable);
    expect(judge("delta-iqr", [1, 0, 2, 3, 4])).toMatchObject(unusable);
    expect(judge("iqr", [1, 2, 3, 4, Number.POSITIVE_INFINITY])).toMatchObject(unusable);
    expect(judge("z-score", [1, 2, 3, 4, Number.NaN])).toMatchObject(unusable);
    expect(judge("log-normal", [1e-300, 1e300, 1e-300, 1e300, 1])).toMatchObject(unusable);
    expect(() => judgeThreshold({ test: "static", upper: 1 }, [], Number.NaN, lower)).toThrow(RangeError);
    expect(() => judgeThreshold({ test: "t-test", upper: 1 }, history, 1, lower)).toThrow(RangeError);
  });

  const values = fc.array(fc.double({ min: 1, max: 1e6, noNaN: true }), { minLength: 5, maxLength: 40 });
  const probability = fc.double({ min: 0.51, max: 0.999, noNaN: true });
  const multiple = fc.double({ min: 0.01, max: 10, noNaN: true });
  const judged = fc.oneof(
    fc.tuple(fc.constantFrom("z-score", "t-test", "log-normal"), probability, probability),
    fc.tuple(fc.constantFrom("percentage", "iqr", "delta-iqr"), multiple, multiple),
  );

  it("widens with its boundary, about its baseline", () => {
    fc.assert(
      fc.property(values, judged, (points, [test, one, other]) => {
        const limits = (boundary: number) => {
          const found = judgeThreshold({ test, lower: boundary, upper: boundary }, points, 1, lower);
          return found as { baseline: number; lowerLimit: number; upperLimit: number };
        };
        const [narrow, wide] = [limits(Math.min(one, other)), limits(Math.max(one, other))];
        expect(wide.baseline).toBe(narrow.baseline);
        expect(wide.upperLimit).toBeGreaterThanOrEqual(narrow.upperLimit);
        expect(wide.lowerLimit).toBeLessThanOrEqual(narrow.lowerLimit);
        expect(narrow.upperLimit).toBeGreaterThan(narrow.baseline);
        expect(narrow.lowerLimit).toBeLessThan(narrow.baseline);
      }),
    );
  });

  it("knows no unit: history and value times a power of two are judged alike", () => {
    fc.assert(
      fc.property(values, judged, fc.double({ min: 1, max: 1e6, noNaN: true }), (points, [test, boundary], value) => {
        const threshold = { test, lower: boundary, upper: boundary };
        const found = judgeThreshold(threshold, points, value, lower);
        // But for a logarithm, scaling by two is exact.
        const near = [found.lowerLimit, found.upperLimit].some(
          (limit) => Math.abs((limit ?? 0) - value) < value * 1e-9,
        );
        const scaled = points.map((point) => point * 1_024);
        const again = judgeThreshold(threshold, scaled, value * 1_024, lower);
        if (!near) expect(again.verdict).toBe(found.verdict);
        expect((again.upperLimit ?? 0) / 1_024 / (found.upperLimit ?? 1)).toBeCloseTo(1, 9);
      }),
    );
  });
});
