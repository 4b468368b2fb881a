import { describe, expect, it } from "vitest";
import { describeMargin, describeRange, describeRequirement, formatMetric } from "../../../src/words/validation.ts";
import { judgeJob } from "../../../src/words/kinds/registry.ts";
import { JobSpec } from "../../../src/protocol/jobs/job.ts";
import type { Verdict } from "../../../src/protocol/models/requirement.ts";
import { validationResult } from "../../edge/stack/validation-samples.ts";

const verdict = (changes: Partial<Verdict>): Verdict => ({ ...validationResult().verdicts[0]!, ...changes });
const specOf = (kind: "validation" | "optimisation") =>
  JobSpec.parse({
    kind,
    subject: { kind: "model", model: "lenet5" },
    scenarios: [{ kind: "offline" }],
    requirements: [],
    targets: {},
    objective: "throughput",
    space: {},
  });

describe("a requirement", () => {
  it("is shown with its bound in its own unit", () => {
    expect(describeRequirement({ metric: "latencyMs", percentile: 0.5, atMost: 10 })).toBe("p50 latency ≤ 10 ms");
    expect(describeRequirement({ metric: "latencyMs", atMost: 2 })).toBe("p99 latency ≤ 2 ms");
    expect(describeRequirement({ metric: "latencyMs", percentile: 0.999, atMost: 2 })).toBe("p99.9 latency ≤ 2 ms");
    expect(describeRequirement({ metric: "throughputPerS", atLeast: 1_000 })).toBe("throughput ≥ 1,000/s");
    expect(describeRequirement({ metric: "memoryBytes", atMost: 2 ** 30 })).toBe("memory ≤ 1 GiB");
    expect(describeRequirement({ metric: "errorRate", atMost: 0.001 })).toBe("errors ≤ 0.1%");
  });

  it("never looks quite reached where it is not", () => {
    expect(formatMetric("fidelity", 0.99999)).toBe("99.9%");
  });
});

describe("a verdict", () => {
  it("names the range that it rests on, as far as there is one", () => {
    expect(describeRange(verdict({ low: 1, high: 2 }))).toBe("1 ms to 2 ms");
    expect(describeRange(verdict({ low: 1, high: null }))).toBe("1 ms or more");
    expect(describeRange(verdict({ low: null, high: 2 }))).toBe("up to 2 ms");
    expect(describeRange(verdict({ low: null, high: null }))).toBeNull();
  });

  it("names the distance to the bound, or the missing part", () => {
    expect(describeMargin(verdict({ margin: 0.25 }))).toBe("25% left");
    expect(describeMargin(verdict({ margin: 0 }))).toBe("0% left");
    expect(describeMargin(verdict({ margin: -0.1 }))).toBe("missed by 10%");
    expect(describeMargin(verdict({ margin: -3 }))).toBe("missed by 300%");
    expect(describeMargin(verdict({ margin: null }))).toBe("–");
  });
});

describe("a job that judges", () => {
  const told = (
    kind: "validation" | "optimisation",
    state: "succeeded" | "failed" | "leased",
    found: "pass" | "fail" | "insufficient" | null,
  ) => judgeJob({ spec: specOf(kind), state, verdict: found });

  it("shows its verdict once it ended well", () => {
    expect(told("validation", "succeeded", "insufficient")).toEqual(["warn", "insufficient evidence"]);
    expect(told("validation", "succeeded", "fail")).toEqual(["bad", "fail"]);
    expect(told("optimisation", "succeeded", "fail")).toEqual(["bad", "infeasible"]);
    expect(told("optimisation", "succeeded", "pass")).toEqual(["good", "found"]);
  });

  it("shows its state until then: one that failed has failed no requirement", () => {
    expect(told("validation", "failed", null)).toEqual(["bad", "did not finish"]);
    expect(told("validation", "leased", null)).toEqual(["busy", "running"]);
  });
});
