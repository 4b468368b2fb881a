import { describe, expect, it } from "vitest";
import { seededUniform } from "../../../../kernels/seeded-uniform.ts";
import { findSpikes } from "../../../../src/stats/change/find-spikes.ts";

const noisy = (length: number) => [...seededUniform(5, length, length)].map((value) => 100 + value);

describe("spikes", () => {
  it("are points that stick out, upwards and downwards, alone or as many as make no level", () => {
    const series = noisy(60);
    for (const at of [0, 10, 30, 31, 32]) series[at] = 140;
    for (const at of [20, 59]) series[at] = 60;
    expect(findSpikes(series)).toEqual([0, 10, 20, 30, 31, 32, 59]);
  });

  it("are not levels, however short", () => {
    const series = noisy(60);
    for (const at of [30, 31, 32, 33]) series[at] = 140;
    expect(findSpikes(series)).toEqual([]);
    expect(findSpikes(series, { minimumSegment: 5 })).toEqual([30, 31, 32, 33]);
  });

  it("are not the noise itself", () => {
    expect(findSpikes(noisy(500))).toEqual([]);
    const ends = [...noisy(40), ...noisy(40).map((value) => value + 20)];
    expect(findSpikes(ends)).toEqual([]);
  });

  it("stand above the noise floor of a series that does not vary", () => {
    const still = Array.from({ length: 30 }, () => 100);
    still[10] = 100.9;
    still[20] = 101.1;
    expect(findSpikes(still)).toEqual([20]);
    expect(findSpikes(still, { noiseFloor: 0.005 })).toEqual([10, 20]);
  });

  it("may be a level's beginning at the end of a series", () => {
    const series = noisy(40);
    expect(findSpikes([...series, 140, 140])).toEqual([40, 41]);
    expect(findSpikes([...series, 140, 140, 140, 140])).toEqual([]);
  });

  it("are none of less than a level", () => {
    expect(findSpikes([])).toEqual([]);
    expect(findSpikes([1, 9, 1])).toEqual([]);
  });
});
