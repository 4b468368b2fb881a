import { describe, expect, it } from "vitest";
import { bootstrapMean } from "./bootstrap-mean.ts";

describe("bootstrapMean", () => {
  it("agrees with the normal interval where that one is right", () => {
    const values = Array.from({ length: 1000 }, (_, index) => index % 100);
    const { mean, low, high } = bootstrapMean(values);
    const margin = (1.96 * Math.sqrt((100 ** 2 - 1) / 12)) / Math.sqrt(1000);
    expect(mean).toBe(49.5);
    expect(Math.abs(low - (mean - margin))).toBeLessThan(margin / 10);
    expect(Math.abs(high - (mean + margin))).toBeLessThan(margin / 10);
  });

  it("never leaves the range of the values and repeats itself", () => {
    const values = [...Array.from({ length: 99 }, () => 500), 400];
    expect(bootstrapMean(values).high).toBeLessThanOrEqual(500);
    expect(bootstrapMean(values)).toEqual(bootstrapMean(values));
  });

  it("refuses an empty list", () => {
    expect(() => bootstrapMean([])).toThrow(RangeError);
  });
});
