import { expect, it } from "vitest";
import { isSearch, shareTime } from "../../../../../src/gpu-runner/kinds/validation/run-length.ts";
import type { Scenario } from "../../../../../src/protocol/models/scenario.ts";

const single: Scenario = { kind: "singleStream", percentile: 0.9, minDurationMs: 1_000 };
const search: Scenario = { kind: "server", percentile: 0.99, boundMs: 10, confirmations: 2, minDurationMs: 1_000 };
const fixed: Scenario = { ...search, ratePerS: 10 };

it("leaves later scenarios what they take at least, and gives one that ends by itself all the rest", () => {
  expect(shareTime([single], 0, 60_000)).toBe(60_000);
  expect(shareTime([single, single], 0, 60_000)).toBe(58_000);
  expect(shareTime([single, search], 0, 60_000)).toBe(56_000);
  expect(shareTime([fixed, single], 5_000, 60_000)).toBe(58_000);
});

it("shares what is to spare among searches", () => {
  expect(shareTime([search], 0, 60_000)).toBe(60_000);
  expect(shareTime([search, search], 0, 60_000)).toBe(30_000);
  expect(shareTime([search, single, search], 0, 61_000)).toBe(4_000 + (61_000 - 10_000) / 2);
});

it("goes no further than the end where there is too little", () => {
  expect(shareTime([search, single], 0, 5_000)).toBe(4_000);
  expect(shareTime([search, single], 0, 3_000)).toBe(3_000);
  expect(shareTime([single], 9_000, 8_000)).toBe(8_000);
});

it("takes only a rate that is not given for a search", () => {
  expect([single, search, fixed].map(isSearch)).toEqual([false, true, false]);
});
