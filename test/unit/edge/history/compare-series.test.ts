import { describe, expect, it } from "vitest";
import { adjustVerdicts, compareSeries, shareRuns } from "../../../../src/edge/history/compare/compare-series.ts";
import { type Observed, observeRuns } from "../../../../src/edge/history/compare/observe-series.ts";
import { pairSeries } from "../../../../src/edge/history/compare/pair-series.ts";
import type { StoredSeries } from "../../../../src/edge/store/history/series-store.ts";
import { LIMITS } from "../../../../src/protocol/wire/limits.ts";
import { openMerged, summarise } from "../../../../src/stats/distribution/distribution.ts";
import { samplePair } from "../../cli/comparison-sample.ts";
import { sampleSeries } from "../../cli/sample-series.ts";

const series = sampleSeries;

const point = (runId: string, atMs: number, values: number[]) => {
  const { count, min, max, sum, sketch } = summarise(values);
  return { seriesNo: 1, runId, revision: null, atMs, count, min, max, sum, sketch };
};
const runs = (...values: number[][]): Observed =>
  observeRuns(
    values.map((each, index) => point(`run_${index}`, -index, each)),
    LIMITS.comparedPoints,
    undefined,
  );
const asked = { statistic: "p50", minimumEffect: 0.01, confidence: 0.95 } as const;
const levels = (count: number, level: number) => Array.from({ length: count }, (_, i) => [level * (1 + i / 1_000)]);

describe("what is counted", () => {
  const observation = (a: number, b: number) =>
    compareSeries({ series, observed: runs(...levels(a, 10)) }, { series, observed: runs(...levels(b, 12)) }, asked)
      .observation;

  it("are runs from five on both sides, a prediction from five on one, and else samples", () => {
    expect(observation(5, 5)).toBe("runs");
    expect(observation(5, 4)).toBe("prediction");
    expect(observation(1, 9)).toBe("prediction");
    expect(observation(4, 4)).toBe("samples");
  });

  it("are at most so many samples of a run, its extremes exact", () => {
    const values = Array.from({ length: 3 * LIMITS.comparedSamples }, (_, i) => 1 + i / 7);
    const compared = compareSeries({ series, observed: runs(values) }, { series, observed: runs([0.123_456]) }, asked);
    expect(compared.a).toMatchObject({ samples: values.length, min: 1, max: values.at(-1) });
    expect(compared.summary).toContain("B lacks 4");
    expect(compared.b.value).toBe(0.123_456);
  });
});

describe("runs", () => {
  const points = [point("c", 3, [3]), point("b", 2, [2]), point("b", 1, [4]), point("a", 0, [1])];

  it("are put together from their points, and cut whole", () => {
    const whole = observeRuns(points, 9, undefined);
    expect(whole.runs.map(({ runId, aggregate }) => [runId, aggregate.count])).toEqual([
      ["c", 1],
      ["b", 2],
      ["a", 1],
    ]);
    expect(whole.truncated).toBe(false);
    const cut = observeRuns(points, 2, undefined);
    expect([cut.runs.map(({ runId }) => runId), cut.truncated]).toEqual([["c"], true]);
    const last = observeRuns(points, 3, 1);
    expect([last.runs.map(({ runId }) => runId), last.truncated]).toEqual([["c"], false]);
  });

  it("that both sides hold belong to the side with fewer", () => {
    const ids = ([a, b]: [Observed, Observed]) => [a, b].map((each) => each.runs.map(({ runId }) => runId).join(""));
    const [all, latest] = [observeRuns(points, 9, undefined), observeRuns(points, 9, 1)];
    expect(ids(shareRuns(all, latest))).toEqual(["ba", "c"]);
    expect(ids(shareRuns(latest, all))).toEqual(["c", "ba"]);
    expect(ids(shareRuns(all, all))).toEqual(["", "cba"]);
    const live = (fromMs: number): Observed => ({
      runs: [],
      merged: { fromMs, toMs: fromMs + 10, aggregate: openMerged(points) },
      truncated: false,
    });
    expect(shareRuns(live(0), live(10))[0].merged).not.toBeNull();
    expect(shareRuns(live(0), live(9))[0].merged).toBeNull();
  });
});

describe("pairs", () => {
  const other = (change: Partial<StoredSeries>): StoredSeries => ({ ...series, ...change });

  it("are series that are alike but for what the sides differ in", () => {
    const [main, branch, third] = [
      other({}),
      other({ label: "x", configuration: { m: 2, n: 1 } }),
      other({ label: "y" }),
    ];
    const stray = other({ configuration: { n: 2 } });
    const { pairs, lonelyA, lonelyB } = pairSeries([main, stray], [branch, third], ["label"]);
    expect(pairs).toEqual([
      [main, branch],
      [main, third],
    ]);
    expect([lonelyA, lonelyB]).toEqual([[stray], []]);
    expect(pairSeries([main], [branch], []).pairs).toEqual([]);
    expect(pairSeries([main], [other({ software: true })], ["fingerprint"]).pairs).toHaveLength(1);
  });

  it("are judged together, samples within runs apart from runs", () => {
    const { adjustedP: _, ...one } = samplePair("a", 1.2, { p: 0.03 });
    const within = { ...one, observation: "samples" as const, p: 1e-9 };
    const judged = adjustVerdicts([one, { ...one, p: 0.5, verdict: "unclear" }, within], 0.95);
    expect(judged.map(({ adjustedP, verdict }) => [adjustedP, verdict])).toEqual([
      [0.06, "unclear"],
      [0.5, "unclear"],
      [1e-9, "worse"],
    ]);
    expect(judged[0]?.warnings).toEqual([expect.stringContaining("adjusted p = 0.06")]);
  });
});
