import { describe, expect, it } from "vitest";
import { faultFields } from "../../../src/protocol/wire/fault.ts";
import { HealthReport } from "../../../src/protocol/fleet/health.ts";
import { JobInput } from "../../../src/protocol/jobs/job.ts";
import { fromShapeText, toShapeText } from "../../../src/protocol/kernels/leaderboard.ts";
import { LIMITS } from "../../../src/protocol/wire/limits.ts";
import { MemoryReport } from "../../../src/protocol/fleet/memory.ts";
import { PlotLook } from "../../../src/protocol/models/plot-endpoints.ts";
import { ProbeResult } from "../../../src/protocol/jobs/probe.ts";
import { report, sensor } from "../../edge/stack/health-samples.ts";
import { memoryReport } from "../../edge/stack/samples.ts";

const repeat = <Item>(item: Item, count: number) => Array.from({ length: count }, () => item);

describe("a list of the wire", () => {
  it("of tiers has room for a tier of each device and those of the runner, and no more", () => {
    const [tier] = memoryReport.tiers;
    const isTaken = (tiers: number, pools: number) =>
      MemoryReport.safeParse({
        ...memoryReport,
        tiers: repeat(tier, tiers),
        pools: repeat(memoryReport.pools[0], pools),
      }).success;
    expect(isTaken(LIMITS.devices + 3, LIMITS.devices)).toBe(true);
    expect(isTaken(LIMITS.devices + 4, LIMITS.devices)).toBe(false);
    expect(isTaken(1, LIMITS.devices + 1)).toBe(false);
  });

  it("of faults ends at its limit", () => {
    const fault = { code: "device-lost", detail: "It died.", action: "retried" };
    expect(faultFields.faults.safeParse(repeat(fault, LIMITS.faults)).success).toBe(true);
    expect(faultFields.faults.safeParse(repeat(fault, LIMITS.faults + 1)).success).toBe(false);
  });
});

describe("a number of the wire", () => {
  const model = { kind: "model", model: "lenet5" };
  const offline = { kind: "offline" };
  const validation = { kind: "validation", subject: model, scenarios: [offline] };
  const optimisation = { kind: "optimisation", subject: model };
  const isTaken = (job: object) => JobInput.safeParse(job).success;

  it.each([
    ["a validation's time", LIMITS.validationMs, (timeoutMs: number) => ({ ...validation, timeoutMs })],
    [
      "a scenario's time",
      LIMITS.scenarioMs,
      (minDurationMs: number) => ({ ...validation, scenarios: [{ ...offline, minDurationMs }] }),
    ],
    [
      "a scenario's queries",
      LIMITS.scenarioQueries,
      (samples: number) => ({ ...validation, scenarios: [{ ...offline, samples }] }),
    ],
    ["a search's time", LIMITS.optimisationMs, (budgetMs: number) => ({ ...optimisation, budgetMs })],
    ["a search's trials", LIMITS.optimisationTrials, (maxTrials: number) => ({ ...optimisation, maxTrials })],
  ])("%s ends at its limit", (_, limit, jobOf) => {
    expect(isTaken(jobOf(limit))).toBe(true);
    expect(isTaken(jobOf(limit + 1))).toBe(false);
  });

  it("of scenarios ends at its limit", () => {
    const many = (count: number) => isTaken({ ...validation, scenarios: repeat(offline, count) });
    expect([many(LIMITS.validationScenarios), many(LIMITS.validationScenarios + 1)]).toEqual([true, false]);
  });

  it("of a plot's width lies between its limits", () => {
    const isWidth = (width: number) => PlotLook.safeParse({ width: String(width) }).success;
    const { minPlotWidth: min, maxPlotWidth: max } = LIMITS;
    expect([min - 1, min, max, max + 1].map(isWidth)).toEqual([false, true, true, false]);
  });

  it("of probed claims, and of sensors, ends at its limit", () => {
    const claim = { claim: "subgroups", claimed: "yes", found: "yes", ok: true };
    const { claims } = ProbeResult.shape;
    expect(claims.safeParse(repeat(claim, LIMITS.probedClaims)).success).toBe(true);
    expect(claims.safeParse(repeat(claim, LIMITS.probedClaims + 1)).success).toBe(false);
    const isReport = (sensors: number) =>
      HealthReport.safeParse(report(0, { sensors: repeat(sensor(), sensors) })).success;
    expect([isReport(LIMITS.watchedSensors), isReport(LIMITS.watchedSensors + 1)]).toEqual([true, false]);
  });
});

describe("a shape as text", () => {
  it.each([{}, { n: 1 }, { n: 512, m: 3, k_2: 65_536 }])("gives back %j", (shape) => {
    expect(fromShapeText(toShapeText(shape))).toEqual(shape);
  });
});
