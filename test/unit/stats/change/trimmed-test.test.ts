import { describe, expect, it } from "vitest";
import { testTrimmed, trimSample } from "../../../../src/stats/change/confirm-boundaries.ts";

const sample = (...values: readonly number[]) => trimSample(Float64Array.from(values));

describe("the test of trimmed means", () => {
  it("leaves out a tenth at either end, and draws it in", () => {
    // Of 1 … 9 and 100 the ends go; drawn in they are 2 and 9.
    const { count, mean, squares } = sample(100, 1, 2, 3, 4, 5, 6, 7, 8, 9);
    expect([count, mean]).toEqual([8, 5.5]);
    expect(squares).toBeCloseTo(2 * 3.5 ** 2 + 2 * (3.5 ** 2 + 2.5 ** 2 + 1.5 ** 2 + 0.5 ** 2), 9);
  });

  it("is what SciPy's ttest_ind gives with equal_var and trim=0.1, which is Student's of small samples", () => {
    const small = testTrimmed(sample(1, 2, 3, 4), sample(3, 4, 5, 7), 0);
    expect(small).toMatchObject({ difference: 2.25, degreesOfFreedom: 6 });
    expect(small.p).toBeCloseTo(0.0802613262189721, 12);
    const wild = sample(100, 1, 2, 3, 4, 5, 6, 7, 8, 9);
    const other = sample(9, 8, 7.5, 12, 11, 10, 14, 6, 13, -40, 9.5, 10.5);
    const { p, degreesOfFreedom, difference, standardError } = testTrimmed(wild, other, 0);
    expect(degreesOfFreedom).toBe(16);
    expect(difference / standardError).toBeCloseTo(3.0510601543484235, 10);
    expect(p).toBeCloseTo(0.007621842147107408, 12);
  });

  it("uses the given deviation", () => {
    expect(testTrimmed(sample(1, 1), sample(2, 2), 0).p).toBe(0);
    expect(testTrimmed(sample(1, 1), sample(2, 2), 1).standardError).toBe(1);
  });

  it("says nothing of two values, and of equal constants", () => {
    expect(testTrimmed(sample(1), sample(2), 0).p).toBe(1);
    expect(testTrimmed(sample(3, 3), sample(3, 3), 0).p).toBe(1);
  });
});
