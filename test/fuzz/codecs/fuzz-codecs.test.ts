import { describe, expect, it } from "vitest";
import { parseFuzzArguments } from "../arguments.ts";
import { CODEC_TARGETS } from "./codec-targets.ts";
import { fuzzCodecs } from "./fuzz-codecs.ts";

const SEED = 20_261_122;
/** A few of each; `npm run fuzz` has a million. */
const INPUTS = 6_000;
/** Room for a slow machine: the readers are loaded by a thread of its own. */
const TIMEOUT_MS = 600_000;

describe("readers of what comes from elsewhere", () => {
  it(
    "answer or refuse whatever they are given",
    async () => {
      const { inputs, byTarget, findings } = await fuzzCodecs(INPUTS, { seed: SEED, only: [], say: () => undefined });
      expect(findings).toEqual([]);
      expect(inputs).toBeGreaterThanOrEqual(INPUTS);
      expect(Object.keys(byTarget)).toEqual([...CODEC_TARGETS.keys()]);
    },
    TIMEOUT_MS,
  );
});

describe("the fuzzer's command line", () => {
  const parse = (...argv: string[]) => parseFuzzArguments(argv, ["frame", "sketch"]);

  it("has the counts of the acceptance unless others are asked for", () => {
    const counts = { http: 100_000, codec: 1_000_000, wgsl: 20_000 };
    const whole = { kind: "run", ...counts, seed: SEED, only: [], json: false, out: null };
    expect(parse()).toEqual(whole);
    expect(parse("--http", "5", "--codec=0", "--wgsl", "6", "--seed", "7", "--json", "--out", "f")).toEqual({
      ...whole,
      http: 5,
      codec: 0,
      wgsl: 6,
      seed: 7,
      json: true,
      out: "f",
    });
    expect(parse("--only", "sketch", "--only", "frame")).toEqual({
      ...whole,
      http: 0,
      wgsl: 0,
      only: ["sketch", "frame"],
    });
    expect(parse("--only", "frame", "--http", "3")).toEqual({ ...whole, http: 3, wgsl: 0, only: ["frame"] });
    expect(parse("--only", "frame", "--wgsl", "3")).toEqual({ ...whole, http: 0, wgsl: 3, only: ["frame"] });
  });

  it.each([
    [["--http", "-1"], "--http"],
    [["--codec", "many"], "--codec"],
    [["--wgsl", "0.5"], "--wgsl"],
    [["--seed", "1.5"], "--seed must be"],
    [["--seed", "1073741825"], "--seed must be"],
    [["--only", "nobody"], "There is no reader 'nobody'; there are: frame, sketch."],
    [["--surprise"], "--surprise"],
  ])("refuses %j", (argv, sentence) => {
    expect(parse(...argv)).toEqual({ kind: "mistake", sentence: expect.stringContaining(sentence) });
  });
});
