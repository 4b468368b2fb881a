import { describe, expect, it } from "vitest";
import { addUpForecasts } from "../../../../src/edge/history/query/add-up-forecasts.ts";
import type { ForecastSum } from "../../../../src/edge/store/history/total-store.ts";
import { measureOutcomes } from "../../../../src/edge/history/request-measurements.ts";
import { calibratedLevel } from "../../../../src/protocol/history/prediction-calibration.ts";

const outcome = (confidence: number, inTime: boolean, asPredicted: boolean) => ({
  project: "main",
  subject: "mine@1",
  variant: "fp32",
  backend: "ort-cpu",
  batch: 1,
  software: false,
  fingerprint: { adapter: null, driver: null, dawn: null, toggles: [], ort: null, cpu: "sample" },
  totalMs: 3,
  rows: null,
  split: null,
  forecast: { placementId: "plc_a", confidence, inTime, asPredicted },
});
const sumsAt = (stepAtMs: number, outcomes: Parameters<typeof measureOutcomes>[0]): ForecastSum[] =>
  measureOutcomes(outcomes)
    .filter(({ key }) => key.unit === "share")
    .map(({ key, aggregate: { count, sum } }) => ({ key, stepAtMs, count, sum }));

describe("what became of predictions", () => {
  it("is added up by placement and confidence, and by step in order", () => {
    const sums = [
      ...sumsAt(60_000, [outcome(0.99, true, true), outcome(0.99, true, false)]),
      ...sumsAt(0, [outcome(0.99, false, false), outcome(0.5, true, true)]),
    ];
    const [high, low, ...more] = addUpForecasts(sums);
    expect(more).toEqual([]);
    expect(high).toMatchObject({ model: "mine@1", placementId: "plc_a", variant: "fp32", backend: "ort-cpu" });
    expect(high).toMatchObject({ confidence: 0.99, requests: 3, inTime: 2, asPredicted: 1 });
    expect(high?.steps).toEqual([
      { at: "1970-01-01T00:00:00.000Z", requests: 1, inTime: 0, asPredicted: 0 },
      { at: "1970-01-01T00:01:00.000Z", requests: 2, inTime: 2, asPredicted: 1 },
    ]);
    expect(low).toMatchObject({ confidence: 0.5, requests: 1, inTime: 1, asPredicted: 1 });
  });

  it("leaves out a step with only one metric", () => {
    const sums = [...sumsAt(0, [outcome(0.99, true, true)]), ...sumsAt(60_000, [outcome(0.99, true, true)])];
    const isThere = ({ key, stepAtMs }: ForecastSum) => stepAtMs === 0 || key.metric === "asPredicted";
    const [found] = addUpForecasts(sums.filter(isThere));
    expect(found).toMatchObject({ requests: 1, inTime: 1, asPredicted: 1 });
    expect(found?.steps).toHaveLength(1);
    expect(addUpForecasts(sums.filter(({ key }) => key.metric === "asPredicted"))).toEqual([]);
  });

  it("is judged at the level at or below the confidence", () => {
    expect([0.5, 0.59, 0.9, 0.98, 0.99, 0.999].map(calibratedLevel)).toEqual([0.5, 0.5, 0.9, 0.95, 0.99, 0.999]);
  });

  it("is not judged of best efforts, and refusals are counted by reason", () => {
    const measured = measureOutcomes([
      { ...outcome(0.99, true, true), forecast: null },
      { project: "main", subject: "mine@1", refusedFor: "overloaded" },
      { project: "main", subject: "mine@1", refusedFor: "overloaded" },
      { project: "main", subject: "other@1", refusedFor: "overloaded" },
    ]);
    expect(measured.map(({ key, aggregate }) => [key.subject, key.metric, aggregate.sum])).toEqual([
      ["mine@1", "totalMs", 3],
      ["mine@1", "lostMs", 3],
      ["mine@1", "refused.overloaded", 2],
      ["other@1", "refused.overloaded", 1],
    ]);
  });
});
