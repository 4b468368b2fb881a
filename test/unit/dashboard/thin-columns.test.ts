import { describe, expect, it } from "vitest";
import { countBefore, cutColumns, thinColumns } from "../../../src/dashboard/history/thin-columns.ts";
import { lehmer } from "../../../src/stats/random/seeded.ts";

const POINTS = 100_003;
const draw = lehmer();
const timesS = Float64Array.from({ length: POINTS }, (_, place) => 60 * place);
const percentiles = [0, 5, 9].map((level) => Float64Array.from({ length: POINTS }, () => level + draw()));
percentiles[2]![77_777] = 500;
const levels = thinColumns({ timesS, percentiles });

describe("columns for a plot", () => {
  it("are the points themselves where these are few for its pixels", () => {
    const [times, ...values] = cutColumns(levels, [60 * 5_000, 60 * 5_400], 1_000);
    expect(times.length).toBeLessThan(406);
    const first = times[0]! / 60;
    expect(values.map((column) => [...column])).toEqual(
      percentiles.map((column) => [...column.subarray(first, first + times.length)]),
    );
  });

  it("are few where there are many, with a bucket a pixel at least, and keep what stands out", () => {
    for (const [from, to] of [
      [0, POINTS],
      [10_000, 90_000],
      [70_000, 80_000],
    ] as const) {
      const [times, ...values] = cutColumns(levels, [60 * from, 60 * to], 1_000);
      expect(times.length).toBeGreaterThanOrEqual(1_000);
      expect(times.length).toBeLessThanOrEqual(20_000);
      expect(times[0]).toBeLessThanOrEqual(60 * from);
      expect(times.at(-1)).toBeGreaterThanOrEqual(Math.min(60 * to, timesS.at(-1)!));
      expect(times.every((at, place) => place === 0 || at >= times[place - 1]!)).toBe(true);
      for (const [index, column] of values.entries()) {
        const own = percentiles[index]!.subarray(from, to);
        expect(Math.max(...column)).toBeGreaterThanOrEqual(own.reduce((most, value) => Math.max(most, value)));
        expect(Math.min(...column)).toBeLessThanOrEqual(own.reduce((least, value) => Math.min(least, value)));
      }
      expect(Math.max(...values[2]!)).toBe(500);
    }
  });

  it("begin with a whole bucket wherever they are cut", () => {
    for (let from = 20_000; from < 20_040; from++) {
      const [, low] = cutColumns(levels, [60 * from, 60 * (from + 60_000)], 1_000);
      const wrong = low!.findIndex((value, place) => place % 2 === 0 && value > (low![place + 1] ?? value));
      expect(wrong, `cut at ${from}`).toBe(-1);
    }
  });

  it("may be of one point, or of none", () => {
    const one = thinColumns({ timesS: Float64Array.of(5), percentiles: [Float64Array.of(1)] });
    expect(cutColumns(one, [0, 10], 1_000).map((column) => [...column])).toEqual([[5], [1]]);
    const none = thinColumns({ timesS: new Float64Array(), percentiles: [new Float64Array()] });
    expect(cutColumns(none, [0, 10], 1_000).map((column) => [...column])).toEqual([[], []]);
  });

  it("are counted with what is equal or without", () => {
    expect([countBefore([1, 2, 2, 3], 2, false), countBefore([1, 2, 2, 3], 2, true)]).toEqual([1, 3]);
    expect([countBefore([], 2, true), countBefore([1], 0, true), countBefore([1], 9, false)]).toEqual([0, 0, 1]);
  });
});
