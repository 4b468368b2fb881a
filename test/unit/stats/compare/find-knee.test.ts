import { fc } from "../../property.ts";
import { describe, expect, it } from "vitest";
import { type CurvePoint, findKnee } from "../../../../src/stats/compare/trade-offs.ts";

const curveOf = (xs: readonly number[], y: (x: number) => number): CurvePoint[] => xs.map((x) => ({ x, y: y(x) }));
const powers = [1, 2, 4, 8, 16, 32, 64];
const tenths = Array.from({ length: 11 }, (_, index) => index / 10);

describe("the knee of a curve", () => {
  it("is that of the paper's example: y = 5 − 1/(x + 0.1) bends most at 0.2", () => {
    // Figure 2 of Satopaa et al. marks the knee at x ≈ 0.22.
    const index = findKnee(curveOf(tenths, (x) => 5 - 1 / (x + 0.1)));
    expect(tenths[index ?? -1]).toBe(0.2);
  });

  it("is where a throughput that saturates stops to gain", () => {
    expect(findKnee(curveOf(powers, (rows) => (1_000 * rows) / (rows + 4)))).toBe(powers.indexOf(16));
    expect(findKnee(curveOf(powers, (rows) => Math.min(rows, 8)))).toBe(powers.indexOf(8));
  });

  it.each([
    ["straight", (x: number) => 3 * x + 1],
    ["flat", () => 7],
    ["bent upwards", (x: number) => x ** 2],
    ["barely bent", (x: number) => x - 0.0005 * x ** 2],
  ])("is not there on a curve that is %s", (_, y) => {
    expect(findKnee(curveOf(powers, y))).toBeNull();
  });

  it("wants three points", () => {
    expect(findKnee([])).toBeNull();
    expect(findKnee(curveOf([1, 2], Math.sqrt))).toBeNull();
  });

  it("is the same whatever the units", () => {
    const rising = fc.array(fc.double({ min: 0.01, max: 10, noNaN: true }), { minLength: 3, maxLength: 9 });
    fc.assert(
      fc.property(rising, fc.constantFrom(0.125, 8, 1_024), (steps, factor) => {
        let y = 0;
        const points = steps.map((step, index) => ({ x: powers[index] ?? 2 ** index, y: (y += step) }));
        const scaled = points.map((point) => ({ x: point.x * factor, y: point.y * factor }));
        expect(findKnee(scaled)).toBe(findKnee(points));
      }),
    );
  });
});
