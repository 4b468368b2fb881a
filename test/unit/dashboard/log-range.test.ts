import { describe, expect, it } from "vitest";
import { logRange } from "../../../src/dashboard/plots/plot-data.ts";

describe("a logarithmic range", () => {
  it("begins at one significant digit below the lowest value, wherever that lies, and ends above the highest", () => {
    for (let exponent = -7; exponent <= 4; exponent += 0.01) {
      const lowest = 10 ** exponent;
      const [from, to] = logRange(lowest, lowest * 20);
      expect(from.toExponential()).toMatch(/^\de[+-]\d+$/);
      expect(from).toBeLessThan(lowest);
      expect(from).toBeGreaterThan(lowest / 2.5);
      expect(to).toBeGreaterThan(lowest * 20);
    }
  });

  it("is positive without values, and where the lowest is none that has a logarithm", () => {
    expect(logRange(null, null)).toEqual([0.0007, 1.5]);
    expect(logRange(0, 2)).toEqual([0.001, 3]);
  });
});
