import { describe, expect, it } from "vitest";
import {
  calibratedLatencyMs,
  calibratedMedianMs,
  calibratedSketch,
  largestRows,
} from "../../../../src/edge/inference/predict/calibrated-service.ts";
import { DEFAULT_CONFIGURATION } from "../../../../src/protocol/fleet/serving.ts";
import { summarise } from "../../../../src/stats/distribution/distribution.ts";
import { livePlacement } from "./live-placement.ts";
import { sketchQuantile } from "../../../../src/stats/distribution/sketch.ts";

const sweep = [
  { rows: 1, serviceMs: summarise([1, 1, 2]) },
  { rows: 4, serviceMs: summarise([4, 4, 8]) },
];

describe("the calibrated service", () => {
  it("has its median between the sizes that were measured, and in proportion beyond", () => {
    expect([1, 2, 4, 8].map((rows) => calibratedMedianMs(sweep, rows))).toEqual([1, 2, 4, 8]);
  });

  it("has batches as large as were measured, or as may be formed", () => {
    const largest = (maxRows: number | null) =>
      largestRows({ sweep, configuration: { ...DEFAULT_CONFIGURATION, maxRows } });
    expect([null, 8, 4, 3, 1].map(largest)).toEqual([4, 4, 4, 3, 1]);
  });

  it("has the distribution of the next size, moved to its median", () => {
    expect(sketchQuantile(calibratedSketch(sweep, 2), 0.5)).toBeCloseTo(2, 1);
    expect(sketchQuantile(calibratedSketch(sweep, 2), 0.99)).toBeCloseTo(4, 1);
    expect(sketchQuantile(calibratedSketch(sweep, 8), 0.99)).toBeCloseTo(16, 0);
    expect(calibratedSketch(sweep, 2)).toBe(calibratedSketch(sweep, 2));
  });
});

describe("the calibrated latency", () => {
  it("is link and service of so many rows at the confidence", () => {
    const placement = livePlacement("a", { sweep, linkMs: summarise([1, 1, 3]) });
    expect(calibratedLatencyMs(placement, 1, 0.5)).toBeCloseTo(2, 1);
    expect(calibratedLatencyMs(placement, 4, 0.99)).toBeCloseTo(11, 0);
  });
});
