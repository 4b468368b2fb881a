import { describe, expect, it } from "vitest";
import type { MeasuredValidation } from "../../../../../src/gpu-runner/kinds/validation/gather-evidence.ts";
import { judgeRequirements } from "../../../../../src/gpu-runner/kinds/validation/judge-requirements.ts";
import { measurePercentiles } from "../../../../../src/gpu-runner/kinds/validation/query-log.ts";
import { type Requirement, RequirementInput, Verdict } from "../../../../../src/protocol/models/requirement.ts";
import { type RateTrial, ScenarioInput, type ScenarioResult } from "../../../../../src/protocol/models/scenario.ts";
import { summarise } from "../../../../../src/stats/distribution/distribution.ts";
import { mostOverLatency } from "../../../../../src/stats/sequential/early-stopping.ts";
import { fc } from "../../../property.ts";

const CONFIGURATION = { threads: 1, maxRows: null, maxInFlight: null };

function measured(scenarios: ScenarioResult[], changes: Partial<MeasuredValidation> = {}): MeasuredValidation {
  return {
    kind: "validation",
    subject: { kind: "model", model: "lenet5" },
    modelVersionId: null,
    place: { deviceKey: "cpu", backend: "ort-cpu", variant: "fp32", placementId: null, configuration: CONFIGURATION },
    scenarios,
    startup: { loadMs: 80, firstAnswerMs: 20 },
    memory: { hostPeakBytes: 412e6, hostGrownBytes: 3e6, gpuPeakBytes: null },
    artifactBytes: 247_000,
    fidelity: 0.9987,
    environment: {} as MeasuredValidation["environment"],
    ...changes,
  };
}

/** Result of a stream with these latencies; Infinity failed. */
function stream(latencies: readonly number[], changes: Partial<ScenarioResult> = {}): ScenarioResult {
  const latenciesMs = Float64Array.from(latencies);
  const answered = latenciesMs.filter(Number.isFinite);
  const durationMs = answered.reduce((sum, ms) => sum + ms, 0);
  const errors = latencies.length - answered.length;
  return {
    scenario: ScenarioInput.parse({ kind: "singleStream" }),
    path: "runner",
    queries: latencies.length,
    samples: latencies.length,
    durationMs,
    short: true,
    errors,
    errorCodes: errors === 0 ? {} : { overloaded: errors },
    latencyMs: answered.length === 0 ? null : summarise(answered),
    percentiles: measurePercentiles(latenciesMs, []),
    earlyStopping: null,
    samplesPerS: (1e3 * answered.length) / durationMs,
    server: null,
    ...changes,
  };
}

/** Rates as they were tried; where the percentile is 20 ms and more, `over` queries of 500 were. */
function server(highestRatePerS: number | null, rates: readonly [rate: number, ms: number | null][], over = 50) {
  const curve = rates.map(([ratePerS, percentileMs]): RateTrial => ({
    ratePerS,
    completedPerS: ratePerS,
    queries: 500,
    errors: 0,
    overLatency: percentileMs !== null && percentileMs < 20 ? 0 : over,
    p50Ms: 5,
    percentileMs,
    holds: percentileMs !== null && percentileMs < 20,
    confirms: false,
  }));
  return stream(times(500, 5), {
    scenario: ScenarioInput.parse({ kind: "server", boundMs: 20 }),
    path: "edge",
    server: { highestRatePerS, boundMs: 20, searched: true, curve, front: [] },
  });
}

const times = (count: number, ms: number): number[] => Array.from({ length: count }, () => ms);

function judge(requirement: object, data: MeasuredValidation) {
  const { verdict, verdicts } = judgeRequirements([RequirementInput.parse(requirement)], data);
  for (const each of verdicts) expect(Verdict.parse(JSON.parse(JSON.stringify(each)))).toEqual(each);
  expect(verdicts).not.toHaveLength(0);
  return { verdict, verdicts, only: verdicts[0]! };
}

describe("a latency", () => {
  const p99 = { metric: "latencyMs", percentile: 0.99, atMost: 10 };

  it("passes where the upper bound of its percentile is within, at exactly so much too", () => {
    const { verdict, only } = judge(p99, measured([stream(times(459, 10))]));
    expect(verdict).toBe("pass");
    expect(only).toMatchObject({ scenario: "singleStream", path: "runner", measured: 10, high: 10, margin: 0 });
    expect(only.detail).toBe("The p99 of 459 queries was 10 ms. At most 10 ms is required: kept, with 0 % to spare.");
  });

  it("reports its interval", () => {
    const rising = Array.from({ length: 1_000 }, (_, index) => 1 + index / 1_000);
    expect(judge({ ...p99, percentile: 0.5, atMost: 2 }, measured([stream(rising)])).only.detail).toBe(
      "The p50 of 1,000 queries was 1.5 ms, at least 1.46 ms and at most 1.54 ms with 99 % confidence each. At most 2 ms is required: kept, with 25 % to spare.",
    );
  });

  it("is insufficient with too few queries, and says how many would do", () => {
    const { verdict, only } = judge(p99, measured([stream(times(458, 5))]));
    expect(verdict).toBe("insufficient");
    expect(only).toMatchObject({ measured: 5, high: null, margin: 0.5 });
    expect(only.detail).toContain("about 459 queries would tell");
  });

  it("fails where the lower bound is beyond", () => {
    const { verdict, only } = judge(p99, measured([stream([...times(900, 5), ...times(100, 14)])]));
    expect(verdict).toBe("fail");
    expect(only).toMatchObject({ measured: 14, low: 14, margin: -0.4 });
    expect(only.detail).toContain("missed by 40 %");
  });

  it("is insufficient between the two, with as many queries as would decide at the same share", () => {
    const near = stream([...times(994, 5), ...times(6, 14)]);
    const { only } = judge(p99, measured([near]));
    expect(only.outcome).toBe("insufficient");
    const needed = Number(/about ([\d,]+) queries/.exec(only.detail)?.[1]?.replaceAll(",", ""));
    // This many with the same share over are enough for a verdict.
    const over = Math.round(needed * 0.006);
    expect(over).toBeLessThanOrEqual(mostOverLatency(0.99, needed));
    expect(needed).toBeGreaterThan(1_000);
    const more = stream([...times(needed - over, 5), ...times(over, 14)]);
    expect(judge(p99, measured([more])).verdict).toBe("pass");
  });

  it("passes exactly where early stopping does", () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 1_500 }), fc.nat(20), (queries, over) => {
        const slow = Math.min(over, queries);
        const { verdict } = judge(p99, measured([stream([...times(queries - slow, 5), ...times(slow, 11)])]));
        expect(verdict === "pass").toBe(slow <= mostOverLatency(0.99, queries));
      }),
    );
  });

  it("fails where so many queries failed that there is no such percentile", () => {
    const failed = stream([...times(900, 5), ...times(100, Number.POSITIVE_INFINITY)]);
    const { only } = judge(p99, measured([failed]));
    expect(only).toMatchObject({ outcome: "fail", measured: null, low: null, margin: null });
    expect(only.detail).toContain("100 of 1,000 queries failed");
    expect(judge({ ...p99, percentile: 0.5 }, measured([failed])).verdict).toBe("pass");
    const few = stream([...times(10, 5), Number.POSITIVE_INFINITY]);
    expect(judge(p99, measured([few])).verdict).toBe("insufficient");
  });

  it("is judged under every scenario and path that measured it, or those that are named", () => {
    const slow = stream(times(500, 12), { path: "edge" });
    const data = measured([stream(times(500, 5)), slow, server(100, [[100, 5]])]);
    const all = judge(p99, data);
    expect(all.verdict).toBe("fail");
    expect(all.verdicts.map(({ scenario, path, outcome }) => [scenario, path, outcome])).toEqual([
      ["singleStream", "runner", "pass"],
      ["singleStream", "edge", "fail"],
      ["server", "edge", "pass"],
    ]);
    expect(judge({ ...p99, path: "runner" }, data).verdict).toBe("pass");
    expect(judge({ ...p99, scenario: "server" }, data).verdicts).toHaveLength(1);
  });

  it("says why where nothing measured it", () => {
    const offline = stream(times(1, 500), { scenario: ScenarioInput.parse({ kind: "offline" }) });
    for (const data of [measured([]), measured([offline])]) {
      const { only } = judge(p99, data);
      expect(only).toMatchObject({ outcome: "insufficient", measured: null, scenario: null, path: null });
      expect(only.detail).toContain("no scenario that measures it was run");
    }
    expect(judge({ ...p99, percentile: 0.97 }, measured([stream(times(9, 5))])).only.detail).toContain(
      "There is no p97",
    );
    const empty = stream([], { samplesPerS: 0 });
    expect(judge(p99, measured([empty])).only.detail).toContain("no query was sent in time");
  });
});

describe("throughput", () => {
  const rate = (atLeast: number, changes = {}) => ({ metric: "throughputPerS", atLeast, ...changes });

  it("of a server is the highest rate, which lies below the lowest that did not hold", () => {
    const data = measured([
      server(812, [
        [812, 15],
        [1_000, 30],
        [853, 21],
        [812, 16],
      ]),
    ]);
    expect(judge(rate(812), data).verdict).toBe("pass");
    expect(judge(rate(853), data).verdict).toBe("fail");
    expect(judge(rate(900), data).only).toMatchObject({ measured: 812, low: 812, high: 853 });
    const between = judge(rate(830), data);
    expect(between.verdict).toBe("insufficient");
    expect(between.only.detail).toBe(
      "812/s kept p99 within 20 ms, 853/s did not. At least 830/s is required. Rates between have to be tried.",
    );
  });

  it("is insufficient where no higher rate was tried, and fails where none held", () => {
    expect(judge(rate(200), measured([server(100, [[100, 5]])])).only.detail).toContain("Higher rates");
    const none = measured([
      server(null, [
        [10, 30],
        [5, null],
      ]),
    ]);
    expect(judge(rate(5), none).only).toMatchObject({ outcome: "fail", measured: null });
    expect(judge(rate(3), none).verdict).toBe("insufficient");
    // Seven of 500 over are not enough to say that p99 is.
    expect(judge(rate(20), measured([server(null, [[10, 21]], 7)])).verdict).toBe("insufficient");
    expect(judge(rate(20), measured([server(null, [[10, 21]], 12)])).verdict).toBe("fail");
    // It kept the bound, but there was no time for enough queries.
    expect(judge(rate(10), measured([server(null, [[10, 5]])])).verdict).toBe("insufficient");
  });

  it("of a stream has the interval of the mean of its times", () => {
    const data = measured([stream([...times(50, 9), ...times(50, 11)])]);
    const { only } = judge(rate(90), data);
    expect(only).toMatchObject({ outcome: "pass", measured: 100 });
    // 2.365 times a deviation of 1.005 over ten, of a mean of 10 ms.
    expect(only.low).toBeCloseTo(100 / 1.02376, 2);
    expect(only.high).toBeCloseTo(100 / 0.97624, 2);
    expect(judge(rate(100), data).verdict).toBe("insufficient");
    expect(judge(rate(110), data).verdict).toBe("fail");
  });

  it("of an offline query is one number, and none where the query failed", () => {
    const offline = { scenario: ScenarioInput.parse({ kind: "offline" }), samples: 1_000, samplesPerS: 2_000 };
    expect(judge(rate(2_000), measured([stream([500], offline)])).verdict).toBe("pass");
    expect(judge(rate(2_001), measured([stream([500], offline)])).verdict).toBe("fail");
    const failed = stream([Number.POSITIVE_INFINITY], { ...offline, samplesPerS: 0 });
    expect(judge(rate(1), measured([failed])).only).toMatchObject({ outcome: "insufficient", measured: null });
  });
});

describe("an error rate", () => {
  it("has an exact interval", () => {
    const sound = measured([stream(times(459, 5))]);
    expect(judge({ metric: "errorRate", atMost: 0.01 }, sound).verdict).toBe("pass");
    expect(judge({ metric: "errorRate", atMost: 0.005 }, sound).only.detail).toBe(
      "0 of 459 queries failed, at least 0 % and at most 0.998 % with 99 % confidence each. At most 0.5 % is required. If the rate stays so, about 919 queries would tell.",
    );
    const broken = measured([stream([...times(90, 5), ...times(10, Number.POSITIVE_INFINITY)])]);
    const { only } = judge({ metric: "errorRate", atMost: 0.01 }, broken);
    expect(only).toMatchObject({ outcome: "fail", measured: 0.1 });
    expect(only.detail).toContain("(overloaded 10)");
  });

  it("of nothing at all cannot be proved", () => {
    const { only } = judge({ metric: "errorRate", atMost: 0 }, measured([stream(times(10_000, 5))]));
    expect(only).toMatchObject({ outcome: "insufficient", measured: 0, margin: null });
    expect(only.detail).toContain("No number of queries");
  });
});

describe("what is one number", () => {
  it.each([
    [{ metric: "memoryBytes", atMost: 1e9 }, "pass", 412e6, "The memory of the process was 412 MB."],
    [{ metric: "memoryBytes", atMost: 400e6 }, "fail", 412e6, "missed by 3 %"],
    [{ metric: "startupMs", atMost: 100 }, "pass", 100, "The start-up was 100 ms."],
    [{ metric: "artifactBytes", atMost: 200_000 }, "fail", 247_000, "247 kB"],
    [{ metric: "fidelity", atLeast: 0.99 }, "pass", 0.9987, "0.9987"],
    [{ metric: "fidelity", atLeast: 0.999 }, "fail", 0.9987, "missed by"],
  ])("%j is judged as it is", (requirement, outcome, value, text) => {
    const { only } = judge(requirement, measured([]));
    expect(only).toMatchObject({ outcome, measured: value, scenario: null, path: null });
    expect(only.detail).toContain(text);
  });

  it("is insufficient where it is not known", () => {
    const { only } = judge({ metric: "gpuMemoryBytes", atMost: 1e9 }, measured([]));
    expect(only).toMatchObject({ outcome: "insufficient", measured: null, low: null, high: null, margin: null });
    expect(only.detail).toContain("the device does not tell it");
    expect(judge({ metric: "fidelity", atLeast: 0.5 }, measured([], { fidelity: null })).verdict).toBe("insufficient");
  });
});

describe("the verdict of all", () => {
  it("fails with any that does, else is insufficient with any that is", () => {
    const data = measured([]);
    const of = (...requirements: Requirement[]) => judgeRequirements(requirements, data).verdict;
    const good: Requirement = { metric: "memoryBytes", atMost: 1e9 };
    const bad: Requirement = { metric: "memoryBytes", atMost: 1 };
    const unknown: Requirement = { metric: "gpuMemoryBytes", atMost: 1 };
    expect(of()).toBe("pass");
    expect(of(good)).toBe("pass");
    expect(of(good, unknown)).toBe("insufficient");
    expect(of(unknown, bad, good)).toBe("fail");
  });
});
