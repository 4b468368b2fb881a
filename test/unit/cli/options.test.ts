import { describe, expect, it } from "vitest";
import { chooseStep, spanMs } from "../../../src/cli/history/render-history.ts";
import { bytesOption, percentileOption, shapeOption } from "../../../src/cli/options/option-values.ts";
import { writeRequirement } from "../../../src/cli/render/format-values.ts";
import { parseRequirement, parseScenario } from "../../../src/cli/jobs/validate-command.ts";
import { RequirementInput } from "../../../src/protocol/models/requirement.ts";

describe("sizes", () => {
  it("are read by name, later ones over earlier ones", () => {
    expect(shapeOption("n=1000000, m=64")).toEqual({ n: 1_000_000, m: 64 });
    expect(shapeOption("n=2", { n: 1, m: 3 })).toEqual({ n: 2, m: 3 });
  });
  it.each(["", "n", "n=", "n=0", "n=1.5", "n=-1", "=4", "n=1,,m=2", "n=99999999999999999999"])("refuses %j", (text) => {
    expect(() => shapeOption(text)).toThrow("n=1000000");
  });
});

describe("bytes", () => {
  it("are whole, in binary units", () => {
    expect(["1", "200000000", "2KiB", "1.5 MiB", "3GiB"].map(bytesOption)).toEqual([
      1,
      2e8,
      2_048,
      1_572_864,
      3 * 2 ** 30,
    ]);
  });
  it.each(["", "0", "-1", "5MB", "1e3", "many"])("refuses %j", (text) => {
    expect(() => bytesOption(text)).toThrow("200MiB");
  });
});

describe("a percentile", () => {
  it("is the same as p99, 99 and 0.99", () => {
    expect(["p99", "99", "0.99", "99.9", "p50"].map(percentileOption)).toEqual([0.99, 0.99, 0.99, 0.999, 0.5]);
  });
  it.each(["", "0", "100", "p", "q99", "-5"])("refuses %j", (text) => {
    expect(() => percentileOption(text)).toThrow("p99");
  });
});

describe("a requirement", () => {
  it.each([
    ["latencyMs p99 <= 10", { metric: "latencyMs", percentile: 0.99, atMost: 10 }],
    ["latencyMs<=0.5", { metric: "latencyMs", atMost: 0.5 }],
    [" throughputPerS >= 100 in offline ", { metric: "throughputPerS", scenario: "offline", atLeast: 100 }],
    ["errorRate <= 1e-3", { metric: "errorRate", atMost: 0.001 }],
  ])("is read from %j, as the edge takes it", (text, requirement) => {
    expect(parseRequirement(text)).toEqual(requirement);
    expect(RequirementInput.safeParse(parseRequirement(text)).success).toBe(true);
  });

  it.each([
    ["latencyMs p99", "latencyMs p99 <= 10"],
    ["latencyMs < 10", "latencyMs p99 <= 10"],
    ["speed <= 1", "latencyMs, throughputPerS"],
    ["fidelity p99 >= 1", "latencyMs alone"],
    ["latencyMs p0 <= 1", "percentile"],
    ["latencyMs <= 1 in space", "singleStream, multiStream"],
  ])("refuses %j", (text, reason) => {
    expect(() => parseRequirement(text)).toThrow(reason);
  });

  it("is written as it is read", () => {
    for (const text of ["latencyMs p99 <= 10", "latencyMs p99.9 <= 0.5", "fidelity >= 0.9"]) {
      expect(writeRequirement(parseRequirement(text))).toBe(text);
    }
  });
});

describe("a scenario", () => {
  it("is read with its settings, and with what it has by itself", () => {
    expect(parseScenario("offline")).toMatchObject({ kind: "offline", minDurationMs: 2_000 });
    expect(parseScenario("server:boundMs=10, ratePerS=200")).toMatchObject({
      kind: "server",
      boundMs: 10,
      ratePerS: 200,
    });
  });
  it.each([
    ["stream", "singleStream, multiStream"],
    ["server", "boundMs"],
    ["offline:boundMs=3", "boundMs"],
    ["singleStream:minQueries=few", "minQueries"],
    ["singleStream:minQueries", "minQueries"],
  ])("refuses %j", (text, reason) => {
    expect(() => parseScenario(text)).toThrow(reason);
  });
});

describe("the step of a history", () => {
  it("is the shortest that gives a line's columns", () => {
    expect(["30m", "12h", "7d", "90d", "99999d"].map((text) => chooseStep(spanMs(text) ?? 0))).toEqual([
      "1m",
      "15m",
      "6h",
      "7d",
      "28d",
    ]);
    expect(["7", "0d", "1w", "", "123456d"].map(spanMs)).toEqual([null, null, null, null, null]);
  });
});
