import { describe, expect, it } from "vitest";
import { type ChangeSettings, detectChanges } from "../../../../src/stats/change/detect-changes.ts";
import { lehmer } from "../../../../src/stats/random/seeded.ts";
import { normalQuantile } from "../../../../src/stats/distribution/normal.ts";
import { fc } from "../../property.ts";

const LOWER: ChangeSettings = { direction: "lower" };
const repeat = (count: number, value: number) => Array.from({ length: count }, () => value);
/** Normal noise of 1 % about the levels. */
const noisy = (levels: readonly number[], seed = 1, noise = 0.01) => {
  const draw = lehmer(seed * 7_919);
  return levels.map((level) => level * (1 + noise * normalQuantile(draw())));
};

describe("detected changes", () => {
  it("report place, size, direction and confidence of a step", () => {
    const series = noisy([...repeat(40, 100), ...repeat(40, 110)]);
    const [change, ...others] = detectChanges(series, LOWER);
    expect(others).toEqual([]);
    expect(change).toMatchObject({ index: 40, completeIndex: 40, kind: "step", verdict: "regression" });
    expect(change?.from).toBeCloseTo(100, 0);
    expect(change?.to).toBeCloseTo(110, 0);
    expect(change?.interval?.low).toBeLessThan(0.1);
    expect(change?.interval?.high).toBeGreaterThan(0.1);
    expect(change?.confidence).toBe(1 - (change?.p ?? 1));
    expect(change?.p).toBeLessThan(1e-20);
    expect(change?.detectedAfter).toBe(4);
  });

  it("are improvements where higher is better, and where it goes down and lower is", () => {
    const up = noisy([...repeat(30, 100), ...repeat(30, 110)]);
    const down = noisy([...repeat(30, 110), ...repeat(30, 100)]);
    expect(detectChanges(up, { direction: "higher" })).toMatchObject([{ index: 30, verdict: "improvement" }]);
    expect(detectChanges(down, LOWER)).toMatchObject([{ index: 30, verdict: "improvement" }]);
    expect(detectChanges(down, { direction: "higher" })).toMatchObject([{ index: 30, verdict: "regression" }]);
  });

  it("say the same of a series while it grows, from the point on that they name", () => {
    const series = noisy([...repeat(40, 100), ...repeat(40, 103)], 3);
    const { index = 0, detectedAfter = 0 } = detectChanges(series, LOWER)[0] ?? {};
    expect(Math.abs(index - 40)).toBeLessThanOrEqual(3);
    expect(detectedAfter).toBeGreaterThanOrEqual(4);
    expect(detectChanges(series.slice(0, index + 3), LOWER)).toEqual([]);
    expect(detectChanges(series.slice(0, index + detectedAfter + 3), LOWER)).toMatchObject([{ kind: "step" }]);
  });

  it("take four points to make a level, and as many as are asked for", () => {
    const withRun = (points: number) => [...repeat(20, 100), ...repeat(points, 120)];
    expect(detectChanges(withRun(3), LOWER)).toEqual([]);
    expect(detectChanges(withRun(4), LOWER)).toMatchObject([{ index: 20 }]);
    expect(detectChanges(withRun(4), { ...LOWER, minimumSegment: 5 })).toEqual([]);
    expect(detectChanges(withRun(5), { ...LOWER, minimumSegment: 5 })).toMatchObject([{ index: 20 }]);
  });

  it("are none of a spike, of a pair, and of many", () => {
    const series = noisy(repeat(150, 100));
    for (const at of [20, 21, 55, 90, 91, 92, 149]) series[at] = 250;
    series[120] = 10;
    expect(detectChanges(series, LOWER)).toEqual([]);
  });

  it("are placed in the whole series where spikes lie before them", () => {
    const series = noisy([...repeat(40, 100), ...repeat(40, 110)]);
    for (const at of [5, 6, 30, 60]) series[at] = 400;
    expect(detectChanges(series, LOWER)).toMatchObject([{ index: 40, verdict: "regression" }]);
  });

  it("leave what is below the minimum effect, in a series without variance too", () => {
    const still = (to: number) => [...repeat(20, 100), ...repeat(20, to)];
    expect(detectChanges(still(100.9), LOWER)).toEqual([]);
    expect(detectChanges(still(101.1), LOWER)).toMatchObject([{ index: 20, p: 0, confidence: 1 }]);
    expect(detectChanges(still(103), { ...LOWER, minimumEffect: 0.05 })).toEqual([]);
    expect(detectChanges(still(100.9), { ...LOWER, minimumEffect: 0.005 })).toMatchObject([{ index: 20 }]);
  });

  it("have no share of a level of zero", () => {
    const [change] = detectChanges([...repeat(20, 0), ...repeat(20, 5)], LOWER);
    expect(change).toMatchObject({ index: 20, from: 0, to: 5, relativeChange: null, interval: null });
  });

  it("know a regression below zero by its direction", () => {
    const [change] = detectChanges(noisy([...repeat(30, -100), ...repeat(30, -80)]), LOWER);
    expect(change).toMatchObject({ index: 30, verdict: "regression" });
    expect(change?.relativeChange).toBeCloseTo(0.2, 1);
  });

  it("are none of a series that flips between two modes, but are where both modes move", () => {
    const flips = (points: number) =>
      Array.from({ length: points }, (_, at) => (Math.floor(at / 7) % 2 === 0 ? 100 : 108));
    expect(detectChanges(noisy(flips(140)), LOWER)).toEqual([]);
    const moved = noisy([...flips(70), ...flips(70).map((level) => level * 1.3)]);
    expect(detectChanges(moved, LOWER)).toMatchObject([{ index: 70, verdict: "regression" }]);
  });

  it("are two of an excursion that comes back", () => {
    const series = noisy([...repeat(40, 100), ...repeat(15, 110), ...repeat(40, 100)]);
    expect(detectChanges(series, LOWER)).toMatchObject([
      { index: 40, verdict: "regression" },
      { index: 55, verdict: "improvement" },
    ]);
  });

  it("are one drift of a slope, and steps of steps", () => {
    const slope = Array.from({ length: 60 }, (_, at) => 100 + (at + 1) / 6);
    const [drift, ...others] = detectChanges(noisy([...repeat(50, 100), ...slope, ...repeat(50, 110)]), LOWER);
    expect(others).toEqual([]);
    expect(drift).toMatchObject({ kind: "drift", verdict: "regression" });
    expect(Math.abs((drift?.index ?? 0) - 50)).toBeLessThan(12);
    expect(Math.abs((drift?.completeIndex ?? 0) - 110)).toBeLessThan(12);
    expect(drift?.relativeChange).toBeCloseTo(0.1, 1);
    const stairs = noisy([...repeat(40, 100), ...repeat(40, 105), ...repeat(40, 110)]);
    expect(detectChanges(stairs, LOWER)).toMatchObject([{ kind: "step" }, { kind: "step" }]);
  });

  it("are rarely found in noise, normal or with heavy tails", () => {
    const draw = lehmer(77);
    const normal = () => normalQuantile(draw());
    const heavy = () => normal() / Math.sqrt((normal() ** 2 + normal() ** 2 + normal() ** 2) / 3);
    for (const noise of [normal, heavy]) {
      const found = Array.from({ length: 40 }, () =>
        detectChanges(
          Array.from({ length: 150 }, () => Math.max(1, 100 + 2 * noise())),
          LOWER,
        ),
      );
      expect(found.flat().length).toBeLessThanOrEqual(1);
    }
  });

  it("do not depend on the unit, and turn round with the sign", () => {
    const levels = fc.array(fc.integer({ min: 90, max: 130 }), { minLength: 1, maxLength: 5 });
    fc.assert(
      fc.property(levels, fc.integer({ min: 1, max: 1_000 }), (each, seed) => {
        const series = noisy(
          each.flatMap((level) => repeat(20, level)),
          seed,
        );
        const changes = detectChanges(series, LOWER);
        const micro = detectChanges(
          series.map((value) => value * 2 ** 20),
          LOWER,
        );
        expect(micro.map(({ index, kind, p }) => [index, kind, p])).toEqual(
          changes.map(({ index, kind, p }) => [index, kind, p]),
        );
        const mirrored = detectChanges(
          series.map((value) => -value),
          { direction: "higher" },
        );
        expect(mirrored.map(({ index, verdict }) => [index, verdict])).toEqual(
          changes.map(({ index, verdict }) => [index, verdict]),
        );
      }),
      { numRuns: 40 },
    );
  });

  it("are none of too little, and refuse what is no number", () => {
    for (let length = 0; length < 8; length++) expect(detectChanges(repeat(length, 5), LOWER)).toEqual([]);
    expect(() => detectChanges([1, 2, 3, 4, Number.NaN], LOWER)).toThrow(RangeError);
  });
});
