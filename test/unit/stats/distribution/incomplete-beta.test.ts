import { describe, expect, it } from "vitest";
import { binomialCdf, binomialInterval } from "../../../../src/stats/distribution/intervals.ts";
import { incompleteBeta } from "../../../../src/stats/distribution/student-t.ts";
import { fc } from "../../property.ts";

const expectNear = (found: number, exact: number, relative = 1e-11) =>
  expect(Math.abs(found - exact)).toBeLessThanOrEqual(relative * Math.abs(exact));

describe("the incomplete beta function", () => {
  it.each([
    // Closed forms: xᵃ where b is 1, the arcsine law where both are 1/2.
    [0.3, 4, 1, 0.3 ** 4],
    [0.2, 1, 3, 1 - 0.8 ** 3],
    [0.25, 0.5, 0.5, 1 / 3],
    [0.5, 7.5, 7.5, 0.5],
    [0, 2, 3, 0],
    [1, 2, 3, 1],
  ])("of %d with %d and %d is %d", (x, a, b, exact) => expectNear(incompleteBeta(x, a, b), exact));

  it("and its complement are 1", () => {
    const size = fc.double({ min: 0.01, max: 1e6, noNaN: true });
    fc.assert(
      fc.property(fc.double({ min: 0.001, max: 0.999, noNaN: true }), size, size, (x, a, b) => {
        expect(incompleteBeta(x, a, b) + incompleteBeta(1 - x, b, a)).toBeCloseTo(1, 9);
      }),
    );
  });
});

describe("the binomial distribution", () => {
  it("is the sum of its probabilities", () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 60 }),
        fc.nat(60),
        fc.double({ min: 0.01, max: 0.99, noNaN: true }),
        (trials, k, p) => {
          const count = Math.min(k, trials);
          let term = (1 - p) ** trials;
          let sum = term;
          for (let met = 0; met < count; met++) {
            term *= ((trials - met) * p) / ((met + 1) * (1 - p));
            sum += term;
          }
          expect(binomialCdf(count, trials, p)).toBeCloseTo(sum, 9);
        },
      ),
    );
  });

  it("gives the exact interval of a share", () => {
    // Clopper and Pearson's own example of 10 in 50 at 95 %, and the rule of three.
    const { low, high } = binomialInterval(10, 50, 0.975);
    expect(low).toBeCloseTo(0.10030224, 7);
    expect(high).toBeCloseTo(0.33718307, 7);
    expect(binomialInterval(0, 459, 0.99)).toEqual({ low: 0, high: expect.closeTo(1 - 0.01 ** (1 / 459), 12) });
    expect(binomialInterval(7, 7, 0.99)).toEqual({ low: expect.closeTo(0.01 ** (1 / 7), 12), high: 1 });
    expect(() => binomialInterval(0, 0, 0.99)).toThrow(RangeError);
  });
});
