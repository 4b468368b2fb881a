import { describe, expect, it } from "vitest";
import { centreRanks, orderMembers } from "../../../../src/gpu-runner/training/fitness.ts";

describe("centreRanks", () => {
  it.each([
    ["differing members", [3, -1, 10], [0, -0.5, 0.5]],
    ["ties, which share the mean of their ranks", [1, 2, 2, 5], [-0.5, 0, 0, 0.5]],
    ["members that are all equal", [4, 4, 4], [0, 0, 0]],
    ["members that failed, below all", [Number.NaN, -1e30, 2], [-0.5, 0, 0.5]],
    ["members that failed all", [Number.NaN, Number.NaN], [0, 0]],
    ["infinite fitness", [-Infinity, 0, Infinity, Infinity], [-0.5, -1 / 6, 1 / 3, 1 / 3]],
    ["one member", [7], [0]],
  ])("ranks %s", (_, fitness, ranks) => {
    const found = centreRanks(Float64Array.from(fitness));
    for (const [index, rank] of ranks.entries()) expect(found[index]).toBeCloseTo(rank, 12);
  });
});

describe("orderMembers", () => {
  it("has the best first, equal ones by their index, and those that failed last", () => {
    expect([...orderMembers(Float64Array.of(1, Number.NaN, 5, 1, Number.NaN, 5))]).toEqual([2, 5, 0, 3, 1, 4]);
  });
});
