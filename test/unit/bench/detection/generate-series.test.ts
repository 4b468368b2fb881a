import { describe, expect, it } from "vitest";
import { DETECTION_CASES } from "../../../../bench/detection/detection-cases.ts";
import { generateSeries } from "../../../../bench/detection/generate-series.ts";
import { median } from "../../../../src/stats/distribution/summary.ts";

const around = (values: Float64Array, index: number) => ({
  before: median(values.slice(index - 20, index)),
  after: median(values.slice(index, index + 20)),
});

describe("generated series", () => {
  it.each(DETECTION_CASES)("are the same for a seed, and other ones for another: $name", ({ recipe }) => {
    expect(generateSeries(recipe, 5)).toEqual(generateSeries(recipe, 5));
    if (recipe.noise > 0) expect(generateSeries(recipe, 5).values).not.toEqual(generateSeries(recipe, 6).values);
    const { values, changes } = generateSeries(recipe, 7);
    expect(values.every((value) => Number.isFinite(value) && value > 0)).toBe(true);
    expect(
      changes.every(({ index, lastIndex }) => index >= 20 && lastIndex >= index && lastIndex < values.length),
    ).toBe(true);
  });

  it("move by the size of a step where it is known to be", () => {
    for (let seed = 1; seed < 20; seed++) {
      const { values, changes } = generateSeries({ length: 200, noise: 0.001, steps: { count: 2, size: 0.1 } }, seed);
      expect(changes.length).toBe(2);
      for (const { index } of changes) {
        const { before, after } = around(values, index);
        expect(after / before).toBeCloseTo(1.1, 2);
        expect((values[index] ?? 0) / (values[index - 1] ?? 0)).toBeCloseTo(1.1, 1);
      }
    }
  });

  it("keep steps where they are when points are missing", () => {
    for (let seed = 1; seed < 20; seed++) {
      const recipe = { length: 260, noise: 0.001, steps: { count: 2, size: 0.1 }, gaps: 3 };
      const { values, changes } = generateSeries(recipe, seed);
      expect(values.length).toBeLessThan(251);
      for (const { index } of changes) {
        expect((values[index] ?? 0) / (values[index - 1] ?? 0)).toBeCloseTo(1.1, 1);
      }
    }
  });

  it("rise all along a drift, and no longer", () => {
    const { values, changes } = generateSeries({ length: 200, noise: 0, drift: { size: 0.1, points: 60 } }, 3);
    const [{ index, lastIndex }] = changes as [{ index: number; lastIndex: number }];
    expect(lastIndex - index).toBe(59);
    expect(values[index - 1]).toBe(100);
    expect(values[index]).toBeGreaterThan(100);
    expect(values[lastIndex]).toBeCloseTo(110);
    expect(values[lastIndex - 1]).toBeLessThan(110 - 0.1);
    expect(values.at(-1)).toBeCloseTo(110);
  });

  it("have as many spikes, never three in a row, and as heavy tails as they say", () => {
    const spiky = generateSeries({ length: 5_000, noise: 0.001, spikes: 0.03 }, 1).values;
    const spikes = [...spiky.keys()].filter((at) => (spiky[at] ?? 0) > 110);
    expect(spikes.length / 5_000).toBeGreaterThan(0.025);
    expect(spikes.length / 5_000).toBeLessThan(0.045);
    const far = (tails?: "heavy") =>
      generateSeries({ length: 5_000, noise: 0.01, ...(tails && { tails }) }, 2).values.filter(
        (value) => Math.abs(value - 100) > 4,
      ).length;
    expect(far()).toBeLessThan(5);
    expect(far("heavy")).toBeGreaterThan(50);
  });

  it("stay in a mode with the given probability", () => {
    const flips = (stay: number) => {
      const { values } = generateSeries({ length: 4_000, noise: 0.001, modes: { size: 0.1, stay } }, 4);
      return [...values.keys()].filter((at) => at > 0 && values[at]! > 105 !== values[at - 1]! > 105).length;
    };
    expect(flips(0) / 4_000).toBeCloseTo(2 * 0.4 * 0.6, 1);
    expect(flips(0.8) / 4_000).toBeCloseTo(0.2 * 2 * 0.4 * 0.6, 1);
  });
});
