import { describe, expect, it } from "vitest";
import { fewestQueries, isShort } from "../../../../../src/gpu-runner/kinds/validation/run-length.ts";
import { measurePercentiles } from "../../../../../src/gpu-runner/kinds/validation/query-log.ts";
import { LIMITS } from "../../../../../src/protocol/wire/limits.ts";
import { ScenarioInput } from "../../../../../src/protocol/models/scenario.ts";

describe("MLPerf's full length", () => {
  const server = { kind: "server", boundMs: 10 };

  it.each([
    [{ kind: "singleStream" }, 64],
    [{ kind: "multiStream" }, 662],
    [server, 459],
  ])("of %j is 600 s and %d queries", (input, queries) => {
    const scenario = ScenarioInput.parse(input);
    const run = { durationMs: 600_000, queries, samples: queries };
    expect(scenario.kind !== "offline" && fewestQueries(scenario)).toBe(queries);
    expect(isShort(scenario, run)).toBe(false);
    expect(isShort(scenario, { ...run, durationMs: 599_999 })).toBe(true);
    expect(isShort(scenario, { ...run, queries: queries - 1 })).toBe(true);
  });

  it("of an offline query is 600 s and 24,576 samples", () => {
    const scenario = ScenarioInput.parse({ kind: "offline" });
    const run = { durationMs: 600_000, queries: 1, samples: 24_576 };
    expect(isShort(scenario, run)).toBe(false);
    expect(isShort(scenario, { ...run, samples: 24_575 })).toBe(true);
  });
});

it("reports no more percentiles than a result may have, the requested ones first", () => {
  const wanted = Array.from({ length: 60 }, (_, index) => (index + 1) / 64);
  const percentiles = measurePercentiles(
    Float64Array.from({ length: 100 }, (_, index) => index),
    wanted,
  );
  expect(percentiles).toHaveLength(LIMITS.scenarioPercentiles);
  expect(percentiles.map(({ percentile }) => percentile)).toEqual(wanted.slice(0, LIMITS.scenarioPercentiles));
});
