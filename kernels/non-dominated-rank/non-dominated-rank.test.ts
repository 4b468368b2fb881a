import { expect, test } from "vitest";
import { readReference } from "../../test/kernels/read-reference.ts";
import { testKernel } from "../../test/kernels/test-kernel.ts";
import { nonDominatedRank } from "./non-dominated-rank.kernel.ts";
import { nonDominatedRankReference } from "./non-dominated-rank.reference.ts";

test("equals share a front, and a front is what only earlier fronts dominate", () => {
  const objectives = Float32Array.from(
    [
      [4, 1],
      [1, 4],
      [4, 1],
      [3, 1],
      [0, 3],
      [0, 0],
    ].flat(),
  );
  const reference = nonDominatedRankReference({ objectives }, { populations: 1, members: 6, objectives: 2 });
  expect(readReference(reference)).toEqual({ rank: [0, 0, 0, 1, 1, 2] });
});

testKernel(
  nonDominatedRank,
  [
    { populations: 3, members: 67, objectives: 3 },
    { populations: 1, members: 1, objectives: 1 },
    { populations: 2, members: 100, objectives: 1 },
    { populations: 1, members: 300, objectives: 16 },
    { populations: 1, members: 1024, objectives: 2 },
    { populations: 4097, members: 2, objectives: 2 },
  ],
  { "population-per-group": { lanes: 4 } },
);
