import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { adjustPValues } from "../../../../src/stats/compare/mann-whitney.ts";

describe("adjusted p-values", () => {
  it("are those of R's p.adjust, method BH", () => {
    // p.adjust(c(0.01, 0.02, 0.03, 0.04, 0.05), "BH") and the 15 of Benjamini and Hochberg's own example.
    for (const p of adjustPValues([0.01, 0.02, 0.03, 0.04, 0.05])) expect(p).toBeCloseTo(0.05, 12);
    const ps = [
      0.0001, 0.0004, 0.0019, 0.0095, 0.0201, 0.0278, 0.0298, 0.0344, 0.0459, 0.324, 0.4262, 0.5719, 0.6528, 0.759, 1,
    ];
    const adjusted = adjustPValues(ps);
    // The paper rejects four of them at 0.05.
    expect(adjusted.filter((p) => p <= 0.05)).toHaveLength(4);
    expect(adjusted[3]).toBeCloseTo(0.035625, 12);
    expect(adjusted[4]).toBeCloseTo(0.0603, 12);
  });

  it("reject what the step-up rule rejects, whatever the order", () => {
    fc.assert(
      fc.property(fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { maxLength: 30 }), (ps) => {
        const level = 0.1;
        const sorted = ps.toSorted((a, b) => a - b);
        const last = sorted.findLastIndex((p, rank) => p * ps.length <= level * (rank + 1));
        const bound = sorted[last] ?? -1;
        const near = (p: number) => Math.abs(p - level) < 1e-12;
        const adjusted = adjustPValues(ps);
        for (const [index, p] of adjusted.entries()) {
          expect(p).toBeGreaterThanOrEqual(ps[index]!);
          if (!near(p)) expect(p <= level).toBe(ps[index]! <= bound);
        }
      }),
      { seed: 5 },
    );
  });

  it("are refused for what is no probability", () => {
    for (const p of [-0.1, 1.1, Number.NaN]) expect(() => adjustPValues([0.5, p])).toThrow(RangeError);
    expect(adjustPValues([])).toEqual([]);
  });
});
