import { pino } from "pino";
import { afterAll, beforeAll, expect, it } from "vitest";
import { readConfig } from "../../../src/gpu-runner/config.ts";
import { DeviceFleet } from "../../../src/gpu-runner/serving/device-fleet.ts";
import { runOptimisation } from "../../../src/gpu-runner/kinds/optimisation/run-optimisation.ts";
import type { WorkloadContext } from "../../../src/gpu-runner/kinds/kind.ts";
import type { JobProgress } from "../../../src/protocol/jobs/job.ts";
import { OptimisationResult, OptimisationSpec } from "../../../src/protocol/jobs/optimisation.ts";
import { CACHE_DIR } from "../../kernels/software-gpu-cache.ts";

let fleet: DeviceFleet;
beforeAll(async () => {
  const config = readConfig({ MILLRACE_RUNNER_DIR: CACHE_DIR, MILLRACE_GPU: "software" });
  fleet = await DeviceFleet.start(config, pino({ level: "silent" }));
});
afterAll(() => fleet.stop());

async function optimise(changes: object, abort = new AbortController()) {
  const progress: JobProgress[] = [];
  const context: Partial<WorkloadContext> = {
    fleet,
    program: null,
    model: null,
    otherJobs: 0,
    signal: abort.signal,
    onProgress: (each) => progress.push(each),
  };
  const spec = OptimisationSpec.parse({
    kind: "optimisation",
    subject: { kind: "kernel", kernel: "mlp-population", shape: { samples: 1 } },
    objective: "throughput",
    targets: {},
    space: { maxRows: [8, 64] },
    maxTrials: 6,
    budgetMs: 300_000,
    ...changes,
  });
  const { result } = await runOptimisation(spec, context as WorkloadContext);
  return { result: OptimisationResult.parse(result), progress };
}

it("a kernel is searched over devices, variants, axes and batches, each checked before it is timed", async () => {
  const { result, progress } = await optimise({});
  const { trials, best, candidates } = result;
  expect(candidates).toBeGreaterThan(6);
  expect(trials.length).toBeLessThanOrEqual(6);
  const measured = trials.filter(({ outcome }) => outcome === "measured");
  expect(measured.length).toBeGreaterThan(0);
  expect(measured.every(({ candidate }) => [8, 64].includes(candidate.maxRows))).toBe(true);
  const chosen = trials[best ?? -1]!;
  const most = Math.max(...measured.map(({ throughputPerS }) => throughputPerS ?? 0));
  expect([most, trials[result.default ?? -1]?.throughputPerS]).toContain(chosen.throughputPerS);
  expect(progress.map(({ done }) => done)).toEqual(progress.map((_, index) => index));
  expect(progress.at(-1)?.best?.throughputPerS).toBeGreaterThan(0);
});

it("a search that is cancelled ends, and one whose candidates all fail says why", async () => {
  const abort = new AbortController();
  abort.abort();
  await expect(optimise({}, abort)).rejects.toThrow("aborted");
  await expect(optimise({ space: { deviceKeys: ["gpu7"] } })).rejects.toThrow("nothing to try");
});
