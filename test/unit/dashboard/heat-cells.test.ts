import { describe, expect, it } from "vitest";
import { densestRow, movePlace, nameRow, shadeOf, tallyHeat } from "../../../src/dashboard/plots/map-cells.ts";

const heat = { times: ["a", "b", "c"], edges: [1, 2, 4] };

describe("the cells of a heat map", () => {
  it("are counted, and rare ones are still seen", () => {
    expect(
      tallyHeat({
        counts: [
          [1, 2],
          [0, 9],
        ],
      }),
    ).toEqual({ most: 9, totals: [3, 9] });
    expect(tallyHeat({ counts: [] })).toEqual({ most: 0, totals: [] });
    expect(shadeOf(0, 9)).toBe(0);
    expect(shadeOf(1, 1e6)).toBeGreaterThan(0.15);
    expect(shadeOf(9, 9)).toBe(1);
    expect(densestRow([1, 5, 5])).toBe(1);
    expect(nameRow(heat.edges, 1, "ms")).toBe("2 to 4 ms");
  });

  it("are walked through by keys, up to the edges", () => {
    const place = { column: 1, row: 0 };
    expect(movePlace(place, "ArrowRight", heat)).toEqual({ column: 2, row: 0 });
    expect(movePlace({ column: 2, row: 1 }, "ArrowRight", heat)).toEqual({ column: 2, row: 1 });
    expect(movePlace(place, "ArrowUp", heat)).toEqual({ column: 1, row: 1 });
    expect(movePlace(place, "ArrowDown", heat)).toEqual(place);
    expect(movePlace(place, "Home", heat).column).toBe(0);
    expect(movePlace(place, "End", heat).column).toBe(2);
  });
});
