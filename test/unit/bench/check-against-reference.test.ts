import { expect, test } from "vitest";
import { contender } from "../../../bench/agents/typed-arrays.ts";
import { checkAgainstReference } from "../../../bench/check-against-reference.ts";
import type { StreamCase } from "../../../bench/kernel-contest/kernel-case.ts";

const input: StreamCase = {
  kernel: "consensus-tally",
  shape: { ballots: 3, voters: 17, options: 5 },
  mode: "stream",
  runs: 1,
};
const TALLIES = 3 * 5;

test("every output is checked by its own reference", async () => {
  const { output } = (await contender(input)).opened;
  await expect(checkAgainstReference(input, output)).resolves.toBeUndefined();
  const wrong = output.with(TALLIES, output[TALLIES]! + 1);
  await expect(checkAgainstReference(input, wrong)).rejects.toThrow(/'quorum'\[0\].*the reference says/);
});

test("nothing may be missing, and nothing be too much", async () => {
  const { output } = (await contender(input)).opened;
  await expect(checkAgainstReference(input, Float32Array.of(...output, 0))).rejects.toThrow("19 elements, not 18");
  await expect(checkAgainstReference(input, output.slice(1))).rejects.toThrow("17 elements, not 18");
});
