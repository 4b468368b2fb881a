import { describe, expect, it } from "vitest";
import { countBins } from "../../../src/dashboard/plots/plot-data.ts";

describe("the bins of a histogram", () => {
  it("hold every value once, the largest in the last one", () => {
    const bins = countBins([0, 1, 2, 3, 4, 5, 6, 8], 4);
    expect(bins).toEqual([
      { from: 0, to: 2, count: 2 },
      { from: 2, to: 4, count: 2 },
      { from: 4, to: 6, count: 2 },
      { from: 6, to: 8, count: 2 },
    ]);
  });

  it("are no more than there are values, one where all are alike, and none of none", () => {
    expect(countBins([1, 2], 40)).toHaveLength(2);
    expect(countBins([7, 7, 7], 40)).toEqual([{ from: 7, to: 7, count: 3 }]);
    expect(countBins([], 40)).toEqual([]);
  });
});
