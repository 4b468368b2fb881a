import { expect, it } from "vitest";
import { runScenarios } from "../../../../../src/gpu-runner/kinds/validation/run-scenarios.ts";
import type { JobProgress } from "../../../../../src/protocol/jobs/job.ts";
import type { Scenario } from "../../../../../src/protocol/models/scenario.ts";

const { signal } = new AbortController();
const single: Scenario = { kind: "singleStream", percentile: 0.9, minDurationMs: 100, minQueries: 64 };
const offline: Scenario = { kind: "offline", samples: 100, minDurationMs: 100 };
const asked = { requirements: [], seed: 1, timeoutMs: 600_000 };

it("runs every scenario on every path, and names both in its progress", async () => {
  const phases = new Set<string>();
  const made: string[] = [];
  const runs = await runScenarios(
    { ...asked, scenarios: [single, offline], paths: ["edge", "runner"] },
    async ({ kind }, path) => {
      made.push(`${path} ${kind}`);
      return { maxSamples: 10, query: async () => {} };
    },
    performance.now() + asked.timeoutMs,
    { signal, onProgress: ({ phase }: JobProgress) => phases.add(phase) },
  );
  expect(made).toEqual(["edge singleStream", "edge offline", "runner singleStream", "runner offline"]);
  expect(runs.map(({ result }) => [result.path, result.scenario.kind, result.errors])).toEqual([
    ["edge", "singleStream", 0],
    ["edge", "offline", 0],
    ["runner", "singleStream", 0],
    ["runner", "offline", 0],
  ]);
  expect([...phases].filter((phase) => phase.startsWith("edge"))).toEqual([
    "edge singleStream, warm up",
    "edge singleStream",
    "edge offline, warm up",
    "edge offline",
  ]);
});

it("measures the percentiles that latencies are required at", async () => {
  const [run] = await runScenarios(
    {
      ...asked,
      scenarios: [single],
      paths: ["runner"],
      requirements: [
        { metric: "latencyMs", percentile: 0.75, atMost: 1 },
        { metric: "startupMs", atMost: 1 },
      ],
    },
    async () => ({ maxSamples: 1, query: async () => {} }),
    performance.now() + asked.timeoutMs,
    { signal, onProgress: () => {} },
  );
  expect(run?.result.percentiles.map(({ percentile }) => percentile)).toEqual([0.5, 0.75, 0.9, 0.95, 0.99, 0.999]);
});

it("has no result where a scenario is not over in time, and says which", async () => {
  const running = runScenarios(
    { ...asked, scenarios: [{ ...single, minQueries: 1_000_000 }], paths: ["edge"] },
    async () => ({ maxSamples: 1, query: () => new Promise((resolve) => setTimeout(resolve, 1)) }),
    performance.now() + 200,
    { signal, onProgress: () => {} },
  );
  await expect(running).rejects.toMatchObject({
    problem: { code: "backend-failed", detail: expect.stringContaining("singleStream on the path edge") },
  });
});

it("ends with the job", async () => {
  const cancelled = new AbortController();
  const running = runScenarios(
    { ...asked, scenarios: [{ ...single, minQueries: 1_000_000 }], paths: ["runner"] },
    async () => ({
      maxSamples: 1,
      query: async () => {
        cancelled.abort(new Error("cancelled"));
      },
    }),
    performance.now() + asked.timeoutMs,
    { signal: cancelled.signal, onProgress: () => {} },
  );
  await expect(running).rejects.toThrow("cancelled");
});
