import { describe, expect, it } from "vitest";
import { bencherTTest, githubActionBenchmark, playRule } from "../../../../bench/detection/point-alerts.ts";

/** Mean 100, and deviation 10 by n − 1. */
const history = Float64Array.from({ length: 25 }, (_, at) => 100 + (at === 24 ? 0 : at % 2 === 0 ? 10 : -10));

describe("the peers that judge the newest point", () => {
  it("have Bencher's limit", () => {
    // t of 0.99 with 24 degrees of freedom is 2.49216; times 10·√1.04 that is 25.41.
    expect(bencherTTest(history, 125.3)).toBe(false);
    expect(bencherTTest(history, 125.5)).toBe(true);
    expect(bencherTTest(history, 10)).toBe(false);
  });

  it("have no answer of too little, and of what does not vary", () => {
    expect(bencherTTest(Float64Array.of(100), 1_000)).toBe(false);
    expect(bencherTTest(Float64Array.of(100, 100, 100), 1_000)).toBe(false);
  });

  it("look back 64 points", () => {
    const wild = Float64Array.from({ length: 20 }, (_, at) => (at % 2) * 1_000);
    const long = Float64Array.from([...wild, ...history, ...history, ...history]);
    expect(bencherTTest(long, 130)).toBe(true);
    expect(bencherTTest(Float64Array.from([...wild, ...history]), 130)).toBe(false);
  });

  it("have github-action-benchmark's 200 % of the previous value", () => {
    const values = Float64Array.of(100, 200, 401, 100, 300);
    expect(playRule(githubActionBenchmark, values).map(({ index }) => index)).toEqual([2, 4]);
    expect(playRule(githubActionBenchmark, values)[0]).toEqual({ index: 2, seenPoints: 3 });
  });
});
