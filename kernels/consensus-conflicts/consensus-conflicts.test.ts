import { expect, test } from "vitest";
import { readReference } from "../../test/kernels/read-reference.ts";
import { testKernel } from "../../test/kernels/test-kernel.ts";
import { consensusConflicts } from "./consensus-conflicts.kernel.ts";
import { consensusConflictsReference } from "./consensus-conflicts.reference.ts";

test("a round has one value and a proposer one id, or there is a conflict", () => {
  const proposals = Int32Array.from(
    [
      [0, 5, 0, 10],
      [1, 7, 1, 11],
      [0, 5, 1, 12], // the same value, but proposer 1 has another id
      [1, -7, 2, 13], // round 1 has another value
      [9, 0, 0, 10], // no round of this session
    ].flat(),
  );
  const shape = { sessions: 1, proposals: 5, rounds: 3, proposers: 3 };
  const reference = consensusConflictsReference({ proposals }, shape);
  expect(readReference(reference)).toEqual({ roundConflict: [0, 1, 0], proposerConflict: [0, 1, 0] });
});

testKernel(
  consensusConflicts,
  [
    { sessions: 67, proposals: 37, rounds: 9, proposers: 5 },
    { sessions: 1, proposals: 1, rounds: 1, proposers: 1 },
    { sessions: 3, proposals: 300, rounds: 1, proposers: 256 },
    { sessions: 2, proposals: 16_384, rounds: 256, proposers: 3 },
    { sessions: 65_535, proposals: 2, rounds: 2, proposers: 2 },
  ],
  { "session-per-group": { lanes: 4 } },
);
