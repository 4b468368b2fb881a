import { describe, expect, it } from "vitest";
import { chooseStep, countByRow } from "../../../../src/edge/history/query/heatmap.ts";
import { parseStepMs } from "../../../../src/edge/history/query/merge-parts.ts";
import { addToSketch, createSketch } from "../../../../src/stats/distribution/sketch.ts";
import { fc } from "../../property.ts";

const value = fc.oneof(
  { weight: 6, arbitrary: fc.double({ min: 0.01, max: 1e4, noNaN: true }) },
  { weight: 1, arbitrary: fc.constantFrom(0, -1, -2.5) },
);
const steps = fc.array(fc.array(value, { minLength: 1, maxLength: 20 }), { minLength: 1, maxLength: 6 });

function toColumn(values: readonly number[], atMs: number) {
  const sketch = createSketch();
  for (const one of values) addToSketch(sketch, one);
  return {
    atMs,
    buckets: [...sketch.positive].toSorted(([a], [b]) => a - b),
    low: values.filter((one) => one <= 0).length,
    min: Math.min(...values),
  };
}

describe("a heat map", () => {
  it("counts every value once, in the row whose bounds it lies between, in no more rows than asked for", () => {
    fc.assert(
      fc.property(steps, fc.integer({ min: 2, max: 100 }), (values, maxRows) => {
        const { edges, counts } = countByRow(values.map(toColumn), maxRows);
        expect(edges.length - 1).toBeLessThanOrEqual(maxRows);
        expect(edges).toEqual(edges.toSorted((a, b) => a - b));
        const hasLow = values.flat().some((one) => one <= 0);
        // A bound may be off by its last digit.
        const rowOf = (one: number) =>
          hasLow && one <= 0 ? 0 : edges.findIndex((edge, i) => i > 0 && edge > 0 && one <= edge * (1 + 1e-12)) - 1;
        for (const [index, step] of values.entries()) {
          const expected = Array.from({ length: edges.length - 1 }, () => 0);
          for (const one of step) expected[rowOf(one)] = (expected[rowOf(one)] ?? 0) + 1;
          expect(counts[index]).toEqual(expected);
        }
      }),
      { numRuns: 300 },
    );
  });

  it("of nothing but zeros and negative values has one row, and of nothing none", () => {
    expect(countByRow([toColumn([-2, 0, 0], 0)], 10)).toEqual({ edges: [-2, 0], counts: [[3]] });
    expect(countByRow([], 10).counts).toEqual([]);
  });

  it("has a step for any span that gives few columns", () => {
    const DAY_MS = 86_400_000;
    expect([3_600_000, DAY_MS, 30 * DAY_MS, 365 * DAY_MS].map(chooseStep)).toEqual(["1m", "15m", "6h", "7d"]);
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 100 * 365 * DAY_MS }), (spanMs) => {
        expect(spanMs / parseStepMs(chooseStep(spanMs))).toBeLessThanOrEqual(120);
      }),
    );
  });
});
