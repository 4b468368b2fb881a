import { expect, test } from "vitest";
import { parseArguments } from "../../../bench/arguments.ts";

const KNOWN = ["gemm", "hop"];
const parse = (...argv: string[]) => parseArguments(argv, KNOWN);

test("names and nothing else", () => {
  expect(parse("hop", "gemm")).toEqual({ kind: "run", benches: ["hop", "gemm"], rounds: 5, json: false, save: false });
});

test("every option, before or after the name", () => {
  expect(parse("--json", "gemm", "--rounds", "9", "--save")).toEqual({
    kind: "run",
    benches: ["gemm"],
    rounds: 9,
    json: true,
    save: true,
  });
});

test("the list wants no name", () => {
  expect(parse("--list")).toEqual({ kind: "list" });
});

test.each([
  [["nope"], "There is no bench 'nope'; the benches are: gemm, hop."],
  [["gemm", "nope"], "There is no bench 'nope'; the benches are: gemm, hop."],
  [[], "Say which bench to run; the benches are: gemm, hop."],
  [["gemm", "--rounds", "4"], "--rounds must be a whole number from 5 up."],
  [["gemm", "--rounds", "many"], "--rounds must be a whole number from 5 up."],
  [["gemm", "--rounds", "5.5"], "--rounds must be a whole number from 5 up."],
])("%j is a mistake", (argv, sentence) => {
  expect(parse(...argv)).toEqual({ kind: "mistake", sentence });
});

test("an option that is not there is named", () => {
  expect(parse("gemm", "--fast")).toMatchObject({ kind: "mistake", sentence: expect.stringContaining("--fast") });
});
