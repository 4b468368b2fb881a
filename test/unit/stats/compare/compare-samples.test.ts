import { describe, expect, it } from "vitest";
import { compareSamples } from "../../../../src/stats/compare/compare-samples.ts";
import { lehmer } from "../../../../src/stats/random/seeded.ts";
import { normalQuantile } from "../../../../src/stats/distribution/normal.ts";
import { resampleMedian } from "../../../../src/stats/compare/resample-medians.ts";
import { median, quantile } from "../../../../src/stats/distribution/summary.ts";
import { fc } from "../../property.ts";

/** Log-normal values about a level. */
function noisy(level: number, spread: number, count: number, seed: number): number[] {
  const draw = lehmer(seed);
  return Array.from({ length: count }, () => level * Math.exp(spread * normalQuantile(draw())));
}

const lower = { direction: "lower" } as const;

describe("the median of a resample", () => {
  it.each([5, 6, 11, 24])("of %d values is distributed as that of draws with replacement", (count) => {
    const sorted = Float64Array.from(noisy(1, 0.5, count, 9)).toSorted();
    const draw = lehmer(77);
    const drawn = (make: () => number) => Float64Array.from({ length: 20_000 }, make).toSorted();
    const short = drawn(() => resampleMedian(sorted, draw));
    const long = drawn(() => median(sorted.map(() => sorted[Math.floor(draw() * count)]!)));
    // Kolmogorov and Smirnov's distance, whose 0.999 quantile for 20,000 each is 0.0195.
    const below = (values: Float64Array, limit: number) => values.filter((value) => value <= limit).length / 20_000;
    const places = [...sorted, ...sorted.map((value, index) => (value + (sorted[index + 1] ?? value)) / 2)];
    for (const place of places) expect(Math.abs(below(short, place) - below(long, place))).toBeLessThan(0.0195);
  });
});

describe("a comparison of two samples", () => {
  it("calls a clear change worse or better, by the direction", () => {
    const [a, b] = [noisy(10, 0.05, 30, 3), noisy(10.8, 0.05, 28, 4)];
    const found = compareSamples(a, b, lower);
    expect(found).toMatchObject({ verdict: "worse", countA: 30, countB: 28, word: "large" });
    expect(found.ratio?.value).toBeCloseTo(found.medianB / found.medianA, 14);
    expect(found.ratio?.interval?.low).toBeGreaterThan(1);
    expect(found.summary).toMatch(
      /^B is [\d.]+ % higher than A, which is worse \(95 % interval [\d.]+ to [\d.]+ % higher\); p (= [\d.e-]+|< 0\.0001) over 30 and 28 values\.$/u,
    );
    expect(compareSamples(a, b, { direction: "higher" })).toMatchObject({ verdict: "better", p: found.p });
    const back = compareSamples(b, a, lower);
    expect(back).toMatchObject({ verdict: "better", p: found.p });
    expect(back.summary).toMatch(
      /^B is [\d.]+ % lower than A, which is better \(95 % interval [\d.]+ to [\d.]+ % lower\);/u,
    );
  });

  it("distinguishes equal from unknown", () => {
    const [many, others] = [noisy(10, 0.02, 400, 5), noisy(10, 0.02, 400, 6)];
    expect(compareSamples(many, others, lower).verdict).toBe("same");
    expect(compareSamples(many, others, lower).summary).toMatch(
      /^B is the same as A to within 1 %: B is .* than A \(/u,
    );
    const few = compareSamples(noisy(10, 0.2, 8, 5), noisy(10, 0.2, 8, 6), lower);
    expect(few.verdict).toBe("unclear");
    expect(few.summary).toMatch(
      /than A, which may be noise \(95 % interval [\d.]+ % lower to [\d.]+ % higher\); p = /u,
    );
  });

  it("does not mind a change below the minimum effect, however certain", () => {
    const [a, b] = [noisy(10, 0.005, 200, 3), noisy(10.09, 0.005, 200, 4)];
    expect(compareSamples(a, b, { ...lower, minimumEffect: 0.005 }).verdict).toBe("worse");
    expect(compareSamples(a, b, { ...lower, minimumEffect: 0.02 }).verdict).toBe("same");
    const { ratio } = compareSamples(a, b, lower);
    const between = compareSamples(a, b, { ...lower, minimumEffect: 1.05 * ((ratio?.value ?? 1) - 1) });
    expect(between.verdict).toBe("unclear");
    expect(between.summary).toMatch(/% higher than A, less than the [\d.]+ % that counts \(95 % interval/u);
  });

  it("says how many values are missing", () => {
    expect(compareSamples([1, 1, 1], [2, 2, 2, 2, 2, 2], lower)).toMatchObject({
      verdict: "unclear",
      ratio: { value: 2, interval: null },
      difference: { value: 1, interval: null },
      summary: "Too few values to tell: A lacks 2 of the 5 that a side takes; so far B is 100 % higher than A.",
    });
    expect(compareSamples([1], [1, 1], lower).summary).toBe(
      "Too few values to tell: A lacks 4 and B lacks 3 of the 5 that a side takes; so far B's median equals A's.",
    );
    expect(() => compareSamples([], [1], lower)).toThrow(RangeError);
    expect(() => compareSamples([1, Number.NaN], [1], lower)).toThrow(RangeError);
  });

  it("reports differences where a ratio says nothing", () => {
    const rise = compareSamples([-3, -3, -3, -3, -3], [2, 2, 2, 2, 2], { direction: "higher" });
    expect(rise).toMatchObject({
      ratio: null,
      difference: { value: 5, interval: { low: 5, high: 5 } },
      verdict: "better",
    });
    expect(rise.summary).toMatch(
      /^B's median is 5 higher than A's, which is better \(95 % interval 5 to 5 higher\); p = /u,
    );
    expect(compareSamples([0, 0, 0, 0, 0], [1, 1, 1, 1, 1], lower)).toMatchObject({ ratio: null, verdict: "worse" });
    expect(compareSamples([0, 0, 0, 0, 0], [0, 0, 0, 0, 0], lower)).toMatchObject({ ratio: null, verdict: "same" });
    // The medians are of one sign, but resamples would not be.
    expect(compareSamples([-1, -1, 1, 1, 1], [2, 2, 2, 2, 2], lower)).toMatchObject({ ratio: null });
  });

  it("knows that a larger ratio of values below zero is lower", () => {
    const found = compareSamples([-10, -10, -10, -10, -10], [-20, -20, -20, -20, -20], lower);
    expect(found).toMatchObject({ ratio: { value: 2 }, verdict: "better" });
    expect(found.summary).toContain("B is 100 % lower than A, which is better (95 % interval 100 to 100 % lower)");
  });

  it("has an interval like that of drawing each value, also of large samples", () => {
    const [a, b] = [noisy(10, 0.3, 2_001, 3), noisy(11, 0.3, 2_000, 4)];
    const draw = lehmer(5);
    const resampled = (values: number[]) => median(values.map(() => values[Math.floor(draw() * values.length)]!));
    const ratios = Array.from({ length: 1_000 }, () => resampled(b) / resampled(a));
    const { interval } = compareSamples(a, b, lower).ratio!;
    const width = quantile(ratios, 0.975) - quantile(ratios, 0.025);
    expect(Math.abs((interval?.low ?? 0) - quantile(ratios, 0.025))).toBeLessThan(0.15 * width);
    expect(Math.abs((interval?.high ?? 0) - quantile(ratios, 0.975))).toBeLessThan(0.15 * width);
  });

  it("holds the true ratio about as often as it says, and finds little where there is nothing", () => {
    let [held, found] = [0, 0];
    for (let trial = 1; trial <= 300; trial++) {
      const [a, b] = [noisy(10, 0.1, 25, 100 + trial), noisy(10, 0.1, 20, 50_000 + 7 * trial)];
      const { ratio, verdict } = compareSamples(a, b, lower);
      if ((ratio?.interval?.low ?? 2) <= 1 && 1 <= (ratio?.interval?.high ?? 0)) held++;
      if (verdict === "better" || verdict === "worse") found++;
    }
    expect(held).toBeGreaterThan(0.92 * 300);
    expect(found).toBeLessThan(0.06 * 300);
  });

  const samples = fc.array(fc.double({ min: 1, max: 100, noNaN: true }), { minLength: 1, maxLength: 30 });

  it("inverts when the sides are changed, and never contradicts itself", () => {
    fc.assert(
      fc.property(samples, samples, (a, b) => {
        const [there, back] = [compareSamples(a, b, lower), compareSamples(b, a, lower)];
        expect((there.ratio?.value ?? 0) * (back.ratio?.value ?? 0)).toBeCloseTo(1, 12);
        expect(back.difference.value).toBe(-there.difference.value || 0);
        expect(back.p).toBe(there.p);
        expect(back.delta).toBeCloseTo(-there.delta, 12);
        expect(back.word).toBe(there.word);
        if (there.verdict === "worse") expect(["better", "unclear"]).toContain(back.verdict);
        if (there.verdict === "better") expect(["worse", "unclear"]).toContain(back.verdict);
      }),
    );
  });

  it("knows no unit, gives the same answer every time, and a wider interval for more confidence", () => {
    fc.assert(
      fc.property(samples, samples, (a, b) => {
        const found = compareSamples(a, b, lower);
        expect(compareSamples(a.toReversed(), b, lower)).toEqual(found);
        const scaled = compareSamples(
          a.map((value) => value * 1_024),
          b.map((value) => value * 1_024),
          lower,
        );
        expect(scaled).toMatchObject({
          ratio: found.ratio,
          p: found.p,
          verdict: found.verdict,
          summary: found.summary,
        });
        const surer = compareSamples(a, b, { ...lower, confidence: 0.99 }).ratio?.interval;
        if (found.ratio?.interval) {
          expect(surer?.low).toBeLessThanOrEqual(found.ratio.interval.low);
          expect(surer?.high).toBeGreaterThanOrEqual(found.ratio.interval.high);
        }
      }),
    );
  });
});
