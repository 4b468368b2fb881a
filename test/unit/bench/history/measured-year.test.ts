import { expect, test } from "vitest";
import {
  createSeries,
  createYear,
  DEVICES,
  FROM_MS,
  POINTS,
  SERIES,
  sharePoints,
  TO_MS,
} from "../../../../bench/history/measured-year.ts";

test("Zipf's shares add up to all points, and the busiest has most", () => {
  const shares = sharePoints(SERIES, POINTS);
  expect(shares.reduce((sum, share) => sum + share, 0)).toBe(POINTS);
  expect(shares[0]).toBe(133_592);
  expect(shares[1]! / shares[0]!).toBeCloseTo(1 / 2, 4);
  expect(shares.at(-1)).toBeGreaterThan(100);
});

test("every metric of a subject has the same devices, and no key comes twice", () => {
  const series = createSeries();
  expect(series).toHaveLength(SERIES);
  expect(new Set(series.map(({ key }) => JSON.stringify(key))).size).toBe(SERIES);
  const groups = Map.groupBy(series, ({ key }) => `${key.subjectKind} ${key.subject} ${key.metric}`);
  for (const group of groups.values()) expect(group).toHaveLength(DEVICES);
  expect(groups.get("model model-0 part0Ms")?.map(({ no }) => no)).toEqual(
    Array.from({ length: DEVICES }, (_, i) => i + 1),
  );
});

test("a year is in order of time, holds what the series say, and is the same again", () => {
  const year = createYear(3, 20_000);
  expect(year.atMs).toEqual(Float64Array.from(year.atMs).toSorted());
  expect(year.atMs[0]).toBeGreaterThanOrEqual(FROM_MS);
  expect(year.atMs.at(-1)).toBeLessThan(TO_MS);
  const counts = new Map<number, number>();
  for (const no of year.no) counts.set(no, (counts.get(no) ?? 0) + 1);
  for (const { no, points } of year.series) expect(counts.get(no) ?? 0).toBe(points);
  expect(year.samples).toHaveLength(3 * 20_000);
  expect(year.samples.every((value) => value > 0.1 && value < 1_000)).toBe(true);
  expect(createYear(3, 20_000)).toEqual(year);
});
