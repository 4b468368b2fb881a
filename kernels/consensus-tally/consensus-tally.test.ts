import { expect, test } from "vitest";
import { readReference } from "../../test/kernels/read-reference.ts";
import { testKernel } from "../../test/kernels/test-kernel.ts";
import { consensusTally } from "./consensus-tally.kernel.ts";
import { consensusTallyReference } from "./consensus-tally.reference.ts";

test("counts the electorate's votes for the options there are, and compares with the quorum", () => {
  const inputs = {
    votes: Int32Array.of(1, 1, 0, 2, -1, /* */ 0, 0, 0, 0, 0),
    // The third voter of the first ballot has no vote; the sixth bit has no voter.
    electorate: Int32Array.of(0b111011, 0b00011),
    percent: Int32Array.of(50, 101),
  };
  const reference = consensusTallyReference(inputs, { ballots: 2, voters: 5, options: 2 });
  expect(readReference(reference)).toEqual({ tally: [0, 2, 2, 0], quorum: [1, 0] });
});

test("any voter may be eligible, and none has to be", () => {
  const { electorate } = consensusTally.generate({ ballots: 99, voters: 32, options: 1 }, 1) as {
    electorate: Int32Array;
  };
  expect(electorate.reduce((some, word) => some | word, 0)).toBe(-1);
  expect(electorate.reduce((all, word) => all & word, -1)).toBe(0);
});

testKernel(
  consensusTally,
  [
    { ballots: 67, voters: 37, options: 5 },
    { ballots: 1, voters: 1, options: 1 },
    { ballots: 3, voters: 64, options: 1 },
    { ballots: 2, voters: 16_384, options: 256 },
    { ballots: 65_535, voters: 3, options: 2 },
  ],
  { "ballot-per-group": { lanes: 4 } },
);
