import { describe, expect, it } from "vitest";
import { studentTCdf, studentTQuantile, studentTTwoSided } from "../../../../src/stats/distribution/student-t.ts";
import { fc } from "../../property.ts";

const expectNear = (found: number, exact: number, relative = 1e-11) =>
  expect(Math.abs(found - exact)).toBeLessThanOrEqual(relative * Math.abs(exact));

describe("Student's t", () => {
  // By SciPy 1.x's stats.t, and by mpmath's betainc at forty digits.
  it.each([
    [1e-6, 3, 0.9999992648948061],
    [0.5, 1, 0.7048327646991335],
    [1, 2, 0.4226497308103742],
    [2, 4, 0.11611652351681559],
    [2.0639, 24, 0.049999852653896],
    [-3.5, 7.25, 0.009446374231644407],
    [12, 5, 7.089492517161522e-5],
    [1.7, 1_000, 0.08944188695924005],
    [4.9, 98, 3.7904621112429035e-6],
    [8, 1e6, 1.245506343320252e-15],
    [1.2, 1e6, 0.23013962473172456],
    [40, 30, 1.3726045194406403e-27],
    [1e5, 1, 6.366197723463607e-6],
    [1.5, 0.5, 0.5079017906481085],
    [30, 300, 2.6062144200978555e-92],
    [0, 9, 1],
    [Number.POSITIVE_INFINITY, 9, 0],
  ])("beyond ±%d with ν = %d has %d", (t, freedom, p) => {
    expectNear(studentTTwoSided(t, freedom), p);
    expectNear(studentTCdf(t, freedom), t > 0 ? 1 - p / 2 : p / 2);
    expectNear(studentTCdf(-t, freedom), t < 0 ? 1 - p / 2 : p / 2);
  });

  it.each([
    [0.975, 1, 12.706204736174694],
    [0.977, 24, 2.1044147227048144],
    [0.75, 2, 0.816496580927726],
    [0.9, 3.5, 1.5765766051364052],
    [0.5001, 10, 0.00025699780660494995],
    [1e-10, 5, -156.8255927088943],
    [0.025, 98, -1.9844674545084817],
    [1e-100, 30, -10810.645001143976],
    [1e-6, 0.5, -102849115631.63399],
    [0.999, 1e6, 3.0902404563165193],
    [0.6, 1, 0.32491969623290623],
    [0.5, 3, 0],
  ])("reaches %d with ν = %d at %d", (p, freedom, t) => {
    expectNear(studentTQuantile(p, freedom), t);
  });

  it("has a quantile that its distribution inverts, symmetrically", () => {
    const share = fc.double({ min: 1e-9, max: 0.499, noNaN: true });
    fc.assert(
      fc.property(share, fc.double({ min: 0.5, max: 5_000, noNaN: true }), (p, freedom) => {
        const t = studentTQuantile(p, freedom);
        expectNear(studentTCdf(t, freedom), p, 1e-9);
        expectNear(studentTQuantile(1 - p, freedom), -t, 1e-6);
      }),
    );
  });

  it("has no quantile outside of (0, 1)", () => {
    for (const p of [0, 1, -1, Number.NaN]) expect(() => studentTQuantile(p, 3)).toThrow(RangeError);
  });
});
