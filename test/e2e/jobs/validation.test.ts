import { afterAll, describe, expect } from "vitest";
import { endpoints } from "../../../src/protocol/endpoints.ts";
import type { Job } from "../../../src/protocol/jobs/job.ts";
import type { ValidationResult } from "../../../src/protocol/jobs/validation.ts";
import { type LocalStack, placeModel, waitForJob } from "../local-stack.ts";
import { it, openTenant } from "../shared-stack.ts";

const short = { minDurationMs: 200, minQueries: 70 };
/** The bound is wide beside the pauses of a machine that runs other tests. */
const ALL = [
  { kind: "singleStream", ...short },
  { kind: "multiStream", percentile: 0.9, ...short },
  { kind: "server", boundMs: 20_000, percentile: 0.9, ratePerS: 40, ...short },
  { kind: "offline", minDurationMs: 200 },
] as const;
type Scenarios = readonly (typeof ALL)[number][];
const REQUIREMENTS = [
  { metric: "latencyMs", percentile: 0.5, atMost: 10_000 },
  { metric: "latencyMs", percentile: 0.5, scenario: "singleStream", atMost: 0.000_1 },
  { metric: "startupMs", atMost: 60_000 },
  { metric: "fidelity", atLeast: 0.5 },
] as const;

let stack: LocalStack;
it.beforeAll(async ({ sharedStack }) => {
  stack = await openTenant(sharedStack);
  for (const name of ["lenet5", "cartpole"]) await placeModel(stack, name);
});
afterAll(() => stack?.stop());

async function validate(model: string, paths: ("runner" | "edge")[], scenarios: Scenarios): Promise<Job> {
  const { id } = await stack.client.call(endpoints.createJob, {
    body: {
      kind: "validation",
      subject: { kind: "model", model, backend: "ort-cpu" },
      paths,
      scenarios,
      requirements: REQUIREMENTS,
      timeoutMs: 180_000,
    },
  });
  return waitForJob(stack, id, ["succeeded", "failed"]);
}

function resultOf(job: Job): ValidationResult {
  expect(job.problem).toBeNull();
  if (job.result?.kind !== "validation") throw new Error("the job has no validation for a result");
  return job.result;
}

describe.each(["lenet5", "cartpole"])("%s", (model) => {
  it("is validated in all four scenarios on the runner, and judged", async () => {
    const job = await validate(model, ["runner"], ALL);
    const result = resultOf(job);
    expect(result.scenarios.map(({ scenario, path, errors }) => [scenario.kind, path, errors])).toEqual([
      ["singleStream", "runner", 0],
      ["multiStream", "runner", 0],
      ["server", "runner", 0],
      ["offline", "runner", 0],
    ]);
    const [single, multi, server, offline] = result.scenarios;
    expect(single?.earlyStopping).toMatchObject({ percentile: 0.9, enough: true });
    expect(multi?.samples).toBe(8 * (multi?.queries ?? 0));
    expect(server?.server).toMatchObject({ highestRatePerS: 40, searched: false, curve: [{ ratePerS: 40 }] });
    expect(offline).toMatchObject({ queries: 1, earlyStopping: null });
    expect(offline?.samplesPerS).toBeGreaterThan(0);
    expect(result.scenarios.every(({ short: isShort }) => isShort)).toBe(true);
    expect(result.verdict).toBe("fail");
    const outcomes = result.verdicts.map(({ requirement, outcome }) => [requirement.atMost ?? "fidelity", outcome]);
    expect(outcomes).toEqual([
      [10_000, "pass"],
      [10_000, "pass"],
      [10_000, "pass"],
      [0.000_1, "fail"],
      [60_000, "pass"],
      ["fidelity", "pass"],
    ]);
    expect(result.memory.hostPeakBytes).toBeGreaterThan(10_000_000);
    const { versions } = await stack.client.call(endpoints.getModel, { params: { model } });
    expect(result.artifactBytes).toBe(versions[0]?.sizeBytes);
    expect(result.startup.firstAnswerMs).toBeGreaterThan(0);
    const { items } = await stack.client.call(endpoints.listPlacements, { params: { model } });
    const validated = items.find(({ id }) => id === result.place.placementId)?.validated;
    expect(validated).toMatchObject({ runId: job.runId, verdict: "fail", serviceMs: { count: single?.queries } });
    const { measurements } = await stack.client.call(endpoints.getRunSamples, { params: { id: job.runId ?? "" } });
    expect(measurements.map(({ metric, values }) => [metric, values.length])).toEqual(
      result.scenarios.map(({ scenario, path, queries }) => [`${path}.${scenario.kind}.latencyMs`, queries]),
    );
  });

  it("is validated through the edge, where requests take longer than on the runner", async () => {
    const job = await validate(model, ["runner", "edge"], [ALL[0], ALL[2]]);
    const { scenarios, verdicts } = resultOf(job);
    expect(scenarios.map(({ scenario, path, errors }) => [scenario.kind, path, errors])).toEqual([
      ["singleStream", "runner", 0],
      ["server", "runner", 0],
      ["singleStream", "edge", 0],
      ["server", "edge", 0],
    ]);
    // Of each the least: other times have pauses of the machine within them.
    expect(scenarios[2]?.latencyMs?.min).toBeGreaterThan(scenarios[0]?.latencyMs?.min ?? Number.NaN);
    expect(verdicts.filter(({ path }) => path === "edge").map(({ outcome }) => outcome)).toEqual([
      "pass",
      "pass",
      "fail",
    ]);
    const totals = await stack.client.call(endpoints.listSeries, {
      query: { subject: `${model}@1`, metric: "totalMs" },
    });
    expect(totals.items).toEqual([]);
  });
});
