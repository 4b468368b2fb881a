import { expect, it } from "vitest";
import { createId } from "../../../src/protocol/wire/id.ts";
import { LIMITS } from "../../../src/protocol/wire/limits.ts";
import { type JobOutcome, parseText, RunnerMessage } from "../../../src/protocol/link.ts";
import type { Verdict } from "../../../src/protocol/models/requirement.ts";
import type { ScenarioResult } from "../../../src/protocol/models/scenario.ts";
import { DEFAULT_CONFIGURATION } from "../../../src/protocol/fleet/serving.ts";
import type { ValidationResult } from "../../../src/protocol/jobs/validation.ts";
import { summarise } from "../../../src/stats/distribution/distribution.ts";

/** A row of D1, and of the queue's own database. */
const ROW_BYTES = 2_000_000;

const times = <Item>(count: number, item: (index: number) => Item) =>
  Array.from({ length: count }, (_, index) => item(index));
/** With as many digits as a number has. */
const long = (index: number) => 1_000 / 3 + index / 7;

/** Latencies from microseconds to the longest that may be waited for. */
const latencyMs = summarise(times(20_000, (index) => (1e-3 * 1.001 ** index) % LIMITS.maxBudgetMs));

const scenario: ScenarioResult = {
  scenario: { kind: "server", percentile: 0.99, boundMs: 10, confirmations: 10, minDurationMs: 1_000 },
  path: "runner",
  queries: LIMITS.scenarioQueries,
  samples: LIMITS.scenarioQueries,
  durationMs: long(1),
  short: true,
  errors: LIMITS.scenarioQueries,
  errorCodes: Object.fromEntries(times(16, (index) => [`a-code-of-a-problem-${index}`, LIMITS.scenarioQueries])),
  latencyMs,
  percentiles: times(LIMITS.scenarioPercentiles, (index) => ({
    percentile: long(index) / 1_000,
    ms: long(index),
    lowMs: long(index),
    highMs: long(index),
    confidence: 0.98,
  })),
  earlyStopping: {
    percentile: 0.99,
    queries: LIMITS.scenarioQueries,
    overLatency: 1,
    minQueries: 1,
    enough: true,
    estimateMs: long(1),
  },
  samplesPerS: long(1),
  server: {
    highestRatePerS: long(1),
    boundMs: 10,
    searched: true,
    curve: times(LIMITS.rateTrials, (index) => ({
      ratePerS: long(index),
      completedPerS: long(index),
      queries: LIMITS.scenarioQueries,
      errors: LIMITS.scenarioQueries,
      overLatency: LIMITS.scenarioQueries,
      p50Ms: long(index),
      percentileMs: long(index),
      holds: false,
      confirms: false,
    })),
    front: times(LIMITS.rateTrials, (index) => ({ ratePerS: long(index), percentileMs: long(index) })),
  },
};

const verdict: Verdict = {
  requirement: { metric: "throughputPerS", scenario: "multiStream", path: "runner", atLeast: long(1) },
  scenario: "multiStream",
  path: "runner",
  outcome: "insufficient",
  measured: long(1),
  low: long(1),
  high: long(1),
  margin: long(1),
  detail: "x".repeat(512),
};

const results = 2 * LIMITS.validationScenarios;
const largest: ValidationResult = {
  kind: "validation",
  subject: { kind: "model", model: "m".repeat(128), variant: "v".repeat(LIMITS.nameLength), backend: "ort-webgpu" },
  modelVersionId: createId("modelVersion"),
  place: {
    deviceKey: "d".repeat(LIMITS.deviceKeyLength),
    backend: "ort-webgpu",
    variant: "v".repeat(LIMITS.nameLength),
    placementId: createId("placement"),
    configuration: DEFAULT_CONFIGURATION,
  },
  scenarios: times(results, () => scenario),
  startup: { loadMs: long(1), firstAnswerMs: long(1) },
  memory: { hostPeakBytes: 2 ** 40, hostGrownBytes: 2 ** 40, gpuPeakBytes: 2 ** 40 },
  artifactBytes: LIMITS.modelBytes,
  fidelity: long(1),
  verdict: "insufficient",
  verdicts: times(LIMITS.requirements * results, () => verdict),
  environment: {
    deviceKey: "cpu",
    deviceName: "n".repeat(128),
    software: true,
    fingerprint: { adapter: null, driver: null, dawn: null, toggles: [], ort: null, cpu: "c".repeat(128) },
    runnerVersion: "0.1.0",
    loadAverage: long(1),
    otherJobs: 1,
  },
};

it("has room in a row, and on the link, for the largest result of a validation", () => {
  expect(Buffer.byteLength(JSON.stringify(largest))).toBeLessThan(ROW_BYTES);
  const outcome: JobOutcome = {
    type: "jobOutcome",
    lease: { jobId: createId("job"), epoch: 1 },
    outcome: { ok: true, result: largest, deviceKey: "cpu", startedAt: "2026-11-21T09:30:00.000Z" },
  };
  expect(parseText(RunnerMessage, JSON.stringify(outcome))).toMatchObject({ ok: true });
});
