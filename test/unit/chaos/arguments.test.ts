import { expect, it } from "vitest";
import { parseArguments } from "../../chaos/arguments.ts";

it("shares the minutes out among the seeds", () => {
  const options = parseArguments(["--minutes", "20", "--seeds", "1,2,3,4,5", "--out", "chaos.json"]);
  expect(options).toEqual({
    kind: "run",
    seeds: [1, 2, 3, 4, 5],
    durationMs: 240_000,
    runners: 3,
    json: false,
    out: "chaos.json",
  });
});

it.each([
  [["--seed", "x"], "--seed and --seeds take"],
  [["--seeds", "1,,2.5"], "--seed and --seeds take"],
  [["--minutes", "0"], "--minutes must be"],
  [["--minutes", "soon"], "--minutes must be"],
  [["--runners", "0"], "--runners must be"],
  [["--hours", "1"], "--hours"],
])("says what is wrong with %j", (argv, sentence) => {
  const options = parseArguments(argv);
  expect(options.kind).toBe("mistake");
  expect(options.kind === "mistake" && options.sentence).toContain(sentence);
});
