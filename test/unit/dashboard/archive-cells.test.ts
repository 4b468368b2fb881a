import { expect, test } from "vitest";
import { eliteAt, mapArchive, moveInMap, placeOf, shadeFitness } from "../../../src/dashboard/plots/map-cells.ts";

const elite = (cell: number, fitness: number) => ({ cell, fitness, measures: [0, 0] });

test("a map has an elite where its cell is, and shades from the worst to the best", () => {
  const map = mapArchive({ dims: [4, 3] }, [elite(0, 1), elite(7, 3), elite(11, 2)]);
  expect(map).toMatchObject({ columns: 4, rows: 3, low: 1, high: 3 });
  expect(eliteAt(map, { column: 2, row: 1 })).toEqual(elite(7, 3));
  expect(eliteAt(map, { column: 1, row: 1 })).toBeUndefined();
  expect(placeOf(map, 7)).toEqual({ column: 2, row: 1 });
  expect([1, 3].map((fitness) => shadeFitness(fitness, map))).toEqual([0.15, 1]);
});

test("of more than two measures the best along the others is drawn, and one measure is one row", () => {
  const deep = mapArchive({ dims: [2, 2, 5] }, [elite(10, 1), elite(14, 4), elite(12, 2)]);
  expect([...deep.elites]).toEqual([[2, elite(14, 4)]]);
  const flat = mapArchive({ dims: [5] }, [elite(3, 1)]);
  expect(eliteAt(flat, { column: 3, row: 0 })).toEqual(elite(3, 1));
  expect(shadeFitness(1, flat)).toBe(1);
});

test("keys move through a map and stop at its edges", () => {
  const map = mapArchive({ dims: [3, 2] }, []);
  const from = { column: 2, row: 1 };
  expect(moveInMap(from, "ArrowRight", map)).toEqual(from);
  expect(moveInMap(from, "ArrowUp", map)).toEqual(from);
  expect(moveInMap(from, "ArrowLeft", map)).toEqual({ column: 1, row: 1 });
  expect(moveInMap(from, "PageDown", map)).toEqual({ column: 2, row: 0 });
  expect(moveInMap(from, "Home", map)).toEqual({ column: 0, row: 1 });
});
