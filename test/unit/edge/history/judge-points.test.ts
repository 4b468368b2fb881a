import { describe, expect, it } from "vitest";
import { findReturn, judgePoints } from "../../../../src/edge/history/detect/find-breaches.ts";
import { fc } from "../../property.ts";

const LOWER = { direction: "lower", noiseFloor: 0.01 } as const;
const rule = {
  test: "percentage",
  upper: 0.2,
  windowPoints: 8,
  minSample: 5,
  minimumEffect: 0,
  consecutive: 1,
} as const;
const level = (value: number, count: number): number[] => Array(count).fill(value);
const placesOf = (values: number[], changes: object = {}) =>
  judgePoints(values, { ...rule, ...changes }, LOWER).episodes.map(({ start, end, returned }) => [
    start,
    end,
    returned,
  ]);

describe("judging points", () => {
  it("makes one episode of points beyond a limit, until three in a row are within it", () => {
    expect(placesOf([...level(10, 8), 13, 13, 10, 10])).toEqual([[8, null, null]]);
    expect(placesOf([...level(10, 8), 13, 13, 10, 10, 13, 10, 10, 10, 10])).toEqual([[8, 16, 15]]);
    expect(placesOf([...level(10, 8), 13, 10, 10, 10, 13, 10, 10, 10])).toEqual([
      [8, 12, 11],
      [12, 16, 15],
    ]);
  });

  it("holds an episode against the history before it, and lets a level that fills the window be the new one", () => {
    const { judgements, episodes } = judgePoints([...level(10, 8), ...level(13, 9), 16], rule, LOWER);
    expect(episodes.map(({ start, end, returned }) => [start, end, returned])).toEqual([
      [8, 16, null],
      [17, null, null],
    ]);
    expect(judgements.slice(8, 16).map(({ baseline }) => baseline)).toEqual(level(10, 8));
    expect(judgements[16]).toMatchObject({ baseline: 13, verdict: "pass" });
  });

  it("wants so many in a row on one side; fewer are history", () => {
    expect(placesOf([...level(10, 8), 13, 13, 10, 13, 13, 10], { consecutive: 3 })).toEqual([]);
    expect(placesOf([...level(10, 8), 13, 7, 13, 7], { consecutive: 2, lower: 0.2 })).toEqual([]);
    expect(placesOf([...level(10, 8), 13, 13, 13], { consecutive: 3 })).toEqual([[8, null, null]]);
  });

  it("overlooks what is less than the minimum effect", () => {
    expect(placesOf([...level(10, 8), 13], { minimumEffect: 0.4 })).toEqual([]);
    expect(placesOf([...level(10, 8), 15], { minimumEffect: 0.4 })).toEqual([[8, null, null]]);
  });

  it("gives every point a verdict, and episodes that neither overlap nor leave their order", () => {
    const values = fc.array(fc.constantFrom(8, 10, 10, 10, 11, 13, 20), { maxLength: 60 });
    const rules = fc.record({
      consecutive: fc.integer({ min: 1, max: 4 }),
      windowPoints: fc.integer({ min: 5, max: 12 }),
    });
    fc.assert(
      fc.property(values, rules, (series, changes) => {
        const { judgements, episodes } = judgePoints(series, { ...rule, lower: 0.1, ...changes }, LOWER);
        expect(judgements).toHaveLength(series.length);
        for (const [at, { start, end, beyond }] of episodes.entries()) {
          expect(start).toBeGreaterThanOrEqual(episodes[at - 1]?.end ?? 0);
          expect(beyond[0]).toBe(start);
          expect(beyond.length).toBeGreaterThanOrEqual(changes.consecutive);
          expect(end ?? series.length).toBeGreaterThan(beyond.at(-1) ?? -1);
        }
      }),
    );
  });
});

describe("a return", () => {
  it("is three in a row within both limits", () => {
    const limits = { lowerLimit: 9, upperLimit: 11 };
    expect(findReturn([13, 10, 10, 13, 10, 11, 9, 10], 0, limits)).toBe(6);
    expect(findReturn([13, 10, 10, 8, 10, 10], 0, limits)).toBeNull();
    expect(findReturn([10, 10, 10, 13], 3, limits)).toBeNull();
    expect(findReturn([13, 1, 1, 1], 0, { lowerLimit: null, upperLimit: 11 })).toBe(3);
  });
});
