import { describe, expect, it } from "vitest";
import { type Direction, paretoFront } from "../../../../src/stats/compare/trade-offs.ts";
import { fc } from "../../property.ts";

describe("the Pareto front", () => {
  it("has what no other beats in both rate and latency", () => {
    const points = [
      [100, 5],
      [200, 5],
      [200, 6],
      [300, 9],
      [250, 12],
      [400, 40],
    ];
    expect(paretoFront(points, ["higher", "lower"], (point) => point)).toEqual([
      [200, 5],
      [300, 9],
      [400, 40],
    ]);
  });

  it("keeps the first of those that are equal, and none that is unknown", () => {
    const points = [
      { id: "a", cost: 1 },
      { id: "b", cost: 1 },
      { id: "c", cost: Number.NaN },
    ];
    expect(paretoFront(points, ["lower"], ({ cost }) => [cost]).map(({ id }) => id)).toEqual(["a"]);
  });

  it("dominates everything else, and nothing of itself, with any objectives", () => {
    const directions = fc.array(fc.constantFrom<Direction>("higher", "lower"), { minLength: 1, maxLength: 4 });
    const cases = directions.chain((ways) =>
      fc.tuple(fc.constant(ways), fc.array(fc.array(fc.nat(6), { minLength: ways.length, maxLength: ways.length }))),
    );
    fc.assert(
      fc.property(cases, ([ways, points]) => {
        const isAtLeast = (a: number[], b: number[]) =>
          ways.every((way, index) => (way === "higher" ? a[index]! >= b[index]! : a[index]! <= b[index]!));
        const front = paretoFront(points, ways, (point) => point);
        for (const point of points) expect(front.some((other) => isAtLeast(other, point))).toBe(true);
        for (const point of front) expect(front.filter((other) => isAtLeast(other, point))).toEqual([point]);
      }),
    );
  });
});
