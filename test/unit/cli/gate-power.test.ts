import { describe, expect, it } from "vitest";
import { exitCodeOf, judgePairs } from "../../../src/cli/check/judge-pairs.ts";
import { adjustVerdicts, compareSeries } from "../../../src/edge/history/compare/compare-series.ts";
import { type Observed, observeRuns } from "../../../src/edge/history/compare/observe-series.ts";
import { summarise } from "../../../src/stats/distribution/distribution.ts";
import { lehmer } from "../../../src/stats/random/seeded.ts";
import { sampleReply } from "./comparison-sample.ts";
import { sampleSeries } from "./sample-series.ts";

const draw = lehmer(11);
const normal = () => Math.sqrt(-2 * Math.log(draw())) * Math.cos(2 * Math.PI * draw());
const gate = { maxRegression: 0.05, requireEvidence: false, allowUnclear: false };
const asked = { statistic: "p50", minimumEffect: 0.01, confidence: 0.95 } as const;

/** Runs with 3 % of log-normal noise between them; `spikes` of them are twice as slow. */
function observe(runs: number, level: number, spikes: number): Observed {
  const points = Array.from({ length: runs }, (_, run) => {
    const median = level * Math.exp(0.03 * normal()) * (draw() < spikes ? 2 : 1);
    const { count, min, max, sum, sketch } = summarise(
      Array.from({ length: 15 }, () => median * Math.exp(0.02 * normal())),
    );
    return { seriesNo: 1, runId: `run_${run}`, revision: null, atMs: -run, count, min, max, sum, sketch };
  });
  return observeRuns(points, runs, undefined);
}

/** Number of failures in 40 checks of ten series, one of them slower by `shift`. */
function countFailures(runs: number, shift: number, spikes: number): number {
  let failures = 0;
  for (let trial = 0; trial < 40; trial++) {
    const compared = Array.from({ length: 10 }, (_, index) =>
      compareSeries(
        { series: sampleSeries, observed: observe(30, 10, spikes) },
        { series: sampleSeries, observed: observe(runs, index === 0 ? 10 * (1 + shift) : 10, spikes) },
        asked,
      ),
    );
    const judgements = judgePairs(sampleReply(adjustVerdicts(compared, asked.confidence)), gate);
    if (exitCodeOf(judgements, gate) === 1) failures++;
  }
  return failures;
}

describe("the gate", () => {
  it("rarely fails where nothing changed, with spikes as well", () => {
    expect(countFailures(5, 0, 0)).toBeLessThanOrEqual(4);
    expect(countFailures(5, 0, 0.03)).toBeLessThanOrEqual(4);
    expect(countFailures(1, 0, 0)).toBeLessThanOrEqual(6);
  });

  it("finds a change of three deviations by five runs, and one of six by one", () => {
    expect(countFailures(5, 0.1, 0)).toBeGreaterThanOrEqual(34);
    expect(countFailures(5, 0.1, 0.03)).toBeGreaterThanOrEqual(32);
    expect(countFailures(1, 0.2, 0)).toBeGreaterThanOrEqual(34);
  });
});
