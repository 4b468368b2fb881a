import { expect, it } from "vitest";
import { parseSimulateArguments } from "../../../../bench/simulate/simulate-arguments.ts";

it("takes what is not said from the size of the fleet", () => {
  expect(parseSimulateArguments(["--runners", "10000", "--rps", "50000", "--loads", "0.5,1"])).toMatchObject({
    kind: "run",
    options: { runners: 10_000, rps: 50_000, models: 80, isolates: 50, jobRate: 10, loads: [0.5, 1], out: null },
  });
});

it.each([
  [["--runners", "1.5"], "--runners"],
  [["--runners", "0"], "--runners"],
  [["--rps", "many"], "--rps"],
  [["--rps", ""], "--rps"],
  [["--budget-ms", "1e9"], "--budget-ms"],
  [["--loads", "1,none"], "--loads"],
  [["--arrivals", "tidal"], "--arrivals"],
  [["--heartbeats", "never"], "--heartbeats"],
  [["--unknown"], "--unknown"],
])("names the option that is wrong: %j", (argv, name) => {
  expect(parseSimulateArguments(argv)).toMatchObject({ kind: "mistake", sentence: expect.stringContaining(name) });
});
