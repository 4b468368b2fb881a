import { expect, it } from "vitest";
import { parseArguments } from "../../hostile/arguments.ts";

const KNOWN = ["progress", "shapes", "reports"];

it("plays every attack for ten seconds, unless it is told otherwise", () => {
  expect(parseArguments([], KNOWN)).toEqual({ kind: "run", names: KNOWN, seconds: 10, json: false, out: null });
  const argv = ["--only", "reports,progress", "--seconds", "2.5", "--json", "--out", "hostile.json"];
  expect(parseArguments(argv, KNOWN)).toEqual({
    kind: "run",
    names: ["progress", "reports"],
    seconds: 2.5,
    json: true,
    out: "hostile.json",
  });
  expect(parseArguments(["--list"], KNOWN)).toEqual({ kind: "list" });
});

it.each([
  [["--only", "reports,manners"], "There is no attack 'manners'"],
  [["--seconds", "0"], "--seconds must be"],
  [["--seconds", "long"], "--seconds must be"],
  [["--minutes", "1"], "--minutes"],
])("says what is wrong with %j", (argv, sentence) => {
  const wish = parseArguments(argv, KNOWN);
  expect(wish.kind).toBe("mistake");
  expect(wish.kind === "mistake" && wish.sentence).toContain(sentence);
});
