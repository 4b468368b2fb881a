import { describe, expect, it } from "vitest";
import { describeSelector, explainThreshold } from "../../../src/words/thresholds.ts";
import type { Threshold } from "../../../src/protocol/history/threshold.ts";

const rule = (changes: Partial<Threshold>): Threshold => ({
  id: `thr_${"0".repeat(26)}`,
  name: "rule",
  test: "percentage",
  upper: 0.1,
  statistic: "p50",
  windowPoints: 64,
  minSample: 5,
  noiseFloor: 0.01,
  minimumEffect: 0,
  consecutive: 1,
  selector: {},
  version: 1,
  createdAt: "2026-11-22T07:00:00.000Z",
  updatedAt: "2026-11-22T07:00:00.000Z",
  ...changes,
});

describe("a threshold in words", () => {
  it("names its limits, their centre, and the points that count", () => {
    expect(explainThreshold(rule({}))).toBe(
      "Alerts when the p50 of a point is above the mean + 10%. The last 64 points count; with fewer than 5 there is no verdict.",
    );
    expect(explainThreshold(rule({ lower: 0.2, consecutive: 3, minimumEffect: 0.05, statistic: "p99" }))).toBe(
      "Alerts when the p99 of 3 points in a row is above the mean + 10% or below the mean − 20%. The last 64 points count; with fewer than 5 there is no verdict. What moved by less than 5% never counts.",
    );
  });

  it("of fixed limits has no history", () => {
    const { upper: _, ...fixed } = rule({ test: "static", lower: 900 });
    expect(explainThreshold(fixed)).toBe("Alerts when the p50 of a point is below 900.");
  });

  it("has words for each test", () => {
    expect(explainThreshold(rule({ test: "t-test", upper: 0.977 }))).toContain(
      "above what 97.7 % of a Student's t distribution around the points before stay under",
    );
    expect(explainThreshold(rule({ test: "iqr", upper: 3 }))).toContain("the median + 3 interquartile ranges.");
  });

  it("names the series that it selects", () => {
    expect(describeSelector({})).toBe("every series");
    expect(describeSelector({ subject: "gemm", software: false, configuration: { m: 64 } })).toBe(
      "subject gemm; software false; m 64",
    );
  });
});
