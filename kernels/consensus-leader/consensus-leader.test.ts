import { expect, test } from "vitest";
import { readReference } from "../../test/kernels/read-reference.ts";
import { testKernel } from "../../test/kernels/test-kernel.ts";
import { consensusLeader } from "./consensus-leader.kernel.ts";
import { consensusLeaderReference } from "./consensus-leader.reference.ts";

test("the highest score leads, and the lowest index of equal ones", () => {
  const scores = Int32Array.of(-7, -3, -3, /* */ 4, 9, 2);
  const reference = consensusLeaderReference({ scores }, { elections: 2, candidates: 3 });
  expect(readReference(reference)).toEqual({ leader: [1, 1] });
});

testKernel(
  consensusLeader,
  [
    { elections: 67, candidates: 5 },
    { elections: 1, candidates: 1 },
    { elections: 33, candidates: 1024 },
    // More groups than one dimension takes at 4 lanes.
    { elections: 2 ** 18, candidates: 2 },
  ],
  { "election-per-lane": { lanes: 4 } },
);
