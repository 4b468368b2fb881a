import { expect, test } from "vitest";
import { createBatch } from "../../../../bench/ingest/point-batches.ts";
import { scoreLoss } from "../../../../bench/ingest/score-loss.ts";

test("what is missing is lost, and what is there twice is a duplicate", () => {
  expect(scoreLoss([1, 2, 3], [3, 2, 1])).toEqual({ lostPoints: 0, duplicatePoints: 0 });
  expect(scoreLoss([1, 2, 3], [1, 3, 3, 3])).toEqual({ lostPoints: 1, duplicatePoints: 2 });
  expect(scoreLoss([1, 2], [])).toEqual({ lostPoints: 2, duplicatePoints: 0 });
});

test("no two points of all batches have the same value, nor the same time in one series", () => {
  const all = Array.from({ length: 200 }, (_, index) => createBatch(index, 100)).flat();
  expect(new Set(all.map(({ value }) => value)).size).toBe(all.length);
  expect(new Set(all.map(({ series, atMs }) => `${series} ${atMs}`)).size).toBe(all.length);
});
