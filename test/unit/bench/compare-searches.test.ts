import { expect, test } from "vitest";
import { compareSearches } from "../../../bench/tuner/compare-searches.ts";

const row = { bench: "tuner", case: "gemm 64", rounds: 1, device: "SwiftShader", software: true };
const ours = { best: { variant: "naive", axes: {} }, runs: 50, spentMs: 2_000, complete: true };
const theirs = { best: { variant: "shared-tiled", axes: { tile: 8 } }, runs: 500, spentMs: 30_000, complete: true };

test("what timing everything cost and found stands against ours", () => {
  const { rows, exhaustive } = compareSearches(row, [ours], [theirs]);
  expect(rows).toMatchObject([
    { metric: "runs", ours: 50, peer: "exhaustive", peerValue: 500, ratio: 10 },
    { metric: "search", ours: 2_000, peer: "exhaustive", peerValue: 30_000, ratio: 15 },
  ]);
  expect(exhaustive).toEqual({ choice: theirs.best });
});

test("a search that was cut short timed not everything, and is out", () => {
  const { rows, exhaustive } = compareSearches(row, [ours], [theirs, { ...theirs, complete: false }]);
  const reason = "its budget ended before it had timed everything";
  for (const each of rows) expect(each).toMatchObject({ peer: "exhaustive", peerValue: null, ratio: null, reason });
  expect(exhaustive).toEqual({ reason });
});
