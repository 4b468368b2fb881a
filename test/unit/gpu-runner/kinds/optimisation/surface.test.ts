import { describe, expect, it } from "vitest";
import { chanceBelowZero, expectedImprovement } from "../../../../../src/gpu-runner/kinds/optimisation/cost-model.ts";
import type { Point } from "../../../../../src/gpu-runner/kinds/optimisation/encode-candidates.ts";
import { PointCovariances, Surface } from "../../../../../src/gpu-runner/kinds/optimisation/surface.ts";
import { factorCholesky, solveLower, solveUpper } from "../../../../../src/stats/cholesky.ts";
import { fc } from "../../../property.ts";

const GRID: Point[] = [0, 1].flatMap((level) =>
  [0, 0.25, 0.5, 0.75, 1].map((x) => ({ levels: [level], axes: [x, 1 - x] })),
);
const createSurface = () => new Surface(new PointCovariances(GRID));

describe("a surface", () => {
  it("learns a line with an offset by category, and is less sure where it has not been", () => {
    const value = (point: number) => 3 + 2 * GRID[point]!.axes[0]! + (GRID[point]!.levels[0] === 1 ? 1 : 0);
    const seen = [0, 2, 4, 5, 7];
    const { estimate, noise } = createSurface().fit(seen.map((point) => ({ point, value: value(point) })));
    for (const point of GRID.keys()) expect(Math.abs(estimate(point).mean - value(point))).toBeLessThan(1);
    for (const point of seen) {
      expect(estimate(point).mean).toBeCloseTo(value(point), 1);
      expect(estimate(point).sd).toBeLessThan(estimate(9).sd);
    }
    expect(noise).toBeLessThan(0.1);
  });

  it("finds out how noisy measurements are where some are repeated", () => {
    const observe = (noise: number) =>
      GRID.flatMap((_, point) => [1, -1, 1, -1].map((sign) => ({ point, value: 5 + sign * noise })));
    expect(createSurface().fit(observe(0.01)).noise).toBeLessThanOrEqual(0.03);
    expect(createSurface().fit(observe(0.2)).noise).toBeGreaterThanOrEqual(0.2);
  });

  it("knows nothing of what was never measured but that it is unsure", () => {
    const { estimate } = createSurface().fit([]);
    expect(estimate(3)).toEqual({ mean: 0, sd: expect.any(Number) });
    expect(estimate(3).sd).toBeGreaterThan(5);
  });
});

describe("expected improvement", () => {
  it("is what the normal distribution has above the best", () => {
    expect(expectedImprovement({ mean: 0, sd: 1 }, 0)).toBeCloseTo(0.398_942, 5);
    expect(expectedImprovement({ mean: 1, sd: 1 }, 0)).toBeCloseTo(1.083_315, 5);
    expect(expectedImprovement({ mean: -3, sd: 1 }, 0)).toBeCloseTo(0.000_382, 5);
    expect(expectedImprovement({ mean: 2, sd: 0 }, 1)).toBe(1);
    expect(expectedImprovement({ mean: 1, sd: 0 }, 2)).toBe(0);
  });

  it("never falls with the mean, nor with the doubt", () => {
    const number = fc.double({ min: -5, max: 5, noNaN: true });
    const positive = fc.double({ min: 0.01, max: 3, noNaN: true });
    fc.assert(
      fc.property(number, positive, positive, (mean, sd, more) => {
        const at = (m: number, s: number) => expectedImprovement({ mean: m, sd: s }, 0);
        expect(at(mean + more, sd)).toBeGreaterThanOrEqual(at(mean, sd) - 1e-12);
        expect(at(mean, sd + more)).toBeGreaterThanOrEqual(at(mean, sd) - 1e-12);
      }),
    );
  });

  it("goes with the chance that a factor is none", () => {
    expect(chanceBelowZero({ mean: 0, sd: 1 })).toBeCloseTo(0.5);
    expect(chanceBelowZero({ mean: -1.959_964, sd: 1 })).toBeCloseTo(0.975);
    expect([chanceBelowZero({ mean: 0, sd: 0 }), chanceBelowZero({ mean: 0.1, sd: 0 })]).toEqual([1, 0]);
  });
});

describe("Cholesky's factor", () => {
  it("solves what it was made from, and there is none of what is not positive definite", () => {
    const matrix = [[4], [2, 5], [1, 3, 6]];
    const factor = factorCholesky(matrix)!;
    const x = solveUpper(factor, solveLower(factor, [7, 10, 10]));
    const full = matrix.map((row, i) => [0, 1, 2].map((j) => (j <= i ? row[j]! : matrix[j]![i]!)));
    expect(full.map((row) => row.reduce((sum, value, j) => sum + value * x[j]!, 0))).toEqual([
      expect.closeTo(7),
      expect.closeTo(10),
      expect.closeTo(10),
    ]);
    expect(factorCholesky([[1], [2, 1]])).toBeNull();
  });
});
