import { afterAll, expect } from "vitest";
import { endpoints } from "../../../src/protocol/endpoints.ts";
import type { Job } from "../../../src/protocol/jobs/job.ts";
import type { OptimisationResult } from "../../../src/protocol/jobs/optimisation.ts";
import { type LocalStack, placeModel, waitForJob } from "../local-stack.ts";
import { it, openTenant } from "../shared-stack.ts";

const SPACE = { deviceKeys: ["cpu"], maxRows: [1, 8], concurrency: [1, 8] };

let stack: LocalStack;
it.beforeAll(async ({ sharedStack }) => {
  stack = await openTenant(sharedStack);
  await placeModel(stack, "lenet5");
});
afterAll(() => stack?.stop());

async function optimise(changes: object): Promise<{ job: Job; result: OptimisationResult }> {
  const subject = { kind: "model", model: "lenet5" } as const;
  const body = { kind: "optimisation", subject, space: SPACE, budgetMs: 5_000, maxTrials: 8, ...changes } as const;
  const { id } = await stack.client.call(endpoints.createJob, { body });
  const job = await waitForJob(stack, id, ["succeeded", "failed"]);
  expect(job.problem).toBeNull();
  if (job.result?.kind !== "optimisation") throw new Error("the job has no optimisation for a result");
  return { job, result: job.result };
}

it("finds a configuration that reaches its targets, and serves by it where validations bear it out", async () => {
  const { job, result } = await optimise({
    targets: { latencyMs: 20_000, throughputPerS: 1, percentile: 0.5 },
    apply: true,
  });
  const { best, trials, applied, infeasible, pareto } = result;
  expect(infeasible).toBeNull();
  expect(trials[best ?? -1]).toMatchObject({ outcome: "measured", misses: [], fidelity: 1 });
  expect(trials[result.default ?? -1]?.candidate).toMatchObject({ deviceKey: "cpu", variant: "fp32", threads: 1 });
  expect(pareto.length).toBeGreaterThan(0);
  expect(trials.length).toBeLessThanOrEqual(8);
  // Another search may find that nothing is better, and load may fail its validation: it says which.
  expect(applied?.detail.length).toBeGreaterThan(0);
  const { items } = await stack.client.call(endpoints.listPlacements, { params: { model: "lenet5" } });
  const placement = items.find(({ backend }) => backend === "ort-cpu");
  if (applied?.applied === true) {
    expect(placement).toMatchObject({ configuration: applied.configuration, validated: { runId: job.runId } });
  } else {
    expect(placement?.configuration).toEqual({ threads: 1, maxRows: null, maxInFlight: null });
  }
});

it("says of an impossible target that it cannot be met, and what comes nearest", async () => {
  const { result } = await optimise({ targets: { latencyMs: 0.000_1 } });
  const { best, infeasible, trials } = result;
  expect(best).toBeNull();
  expect(infeasible?.misses).toMatchObject([{ target: "latencyMs", wanted: 0.000_1 }]);
  const factors = trials.flatMap(({ misses }) => misses.map(({ factor }) => factor));
  expect(infeasible?.misses[0]?.factor).toBe(Math.min(...factors));
  expect(trials[infeasible?.nearest ?? -1]?.misses).toEqual(infeasible?.misses);
  expect(infeasible?.detail).toMatch(
    /reaches every target.*p99 latency is .* where 0\.0001 ms is wanted.*It would meet/,
  );
});
