import { type OptimisationResult, OptimisationTrial } from "../../../src/protocol/jobs/optimisation.ts";
import type { RateTrial, ScenarioResult } from "../../../src/protocol/models/scenario.ts";
import type { ValidationResult } from "../../../src/protocol/jobs/validation.ts";
import { summarise } from "../../../src/stats/distribution/distribution.ts";
import { benchmarkResult } from "./samples.ts";

/** A validation and an optimisation as a runner would send them, for tests in any runtime. */

const subject = { kind: "model", model: "lenet5" } as const;
const environment = { ...benchmarkResult().environment, deviceKey: "cpu", deviceName: "Sample CPU", software: false };
const latencies = Array.from({ length: 600 }, (_, index) => 1 + (index % 100) / 100);

function rateTrial(ratePerS: number, percentileMs: number, changes: Partial<RateTrial> = {}): RateTrial {
  return {
    ratePerS,
    completedPerS: Math.min(ratePerS, 980),
    queries: 2 * ratePerS,
    errors: 0,
    overLatency: percentileMs <= 10 ? 0 : ratePerS,
    p50Ms: 1 + ratePerS / 1_000,
    percentileMs,
    holds: percentileMs <= 10,
    confirms: false,
    ...changes,
  };
}

const curve: RateTrial[] = [
  rateTrial(100, 1.8),
  rateTrial(200, 1.9),
  rateTrial(400, 2.4),
  rateTrial(800, 5.1),
  rateTrial(1_600, 412, { p50Ms: 190 }),
  rateTrial(1_200, 131, { p50Ms: 44 }),
  rateTrial(1_000, 14.5),
  rateTrial(900, 8.2),
  rateTrial(900, 8.9, { confirms: true }),
  rateTrial(900, 7.7, { confirms: true }),
];

const percentiles = [
  { percentile: 0.5, ms: 1.5, lowMs: 1.47, highMs: 1.53, confidence: 0.99 },
  { percentile: 0.9, ms: 1.9, lowMs: 1.88, highMs: 1.93, confidence: 0.99 },
  { percentile: 0.99, ms: 1.99, lowMs: 1.98, highMs: null, confidence: 0.99 },
];

const singleStream: ScenarioResult = {
  scenario: { kind: "singleStream", percentile: 0.9, minDurationMs: 2_000 },
  path: "runner",
  queries: 600,
  samples: 600,
  durationMs: 900,
  short: true,
  errors: 0,
  errorCodes: {},
  latencyMs: summarise(latencies),
  percentiles,
  earlyStopping: {
    percentile: 0.9,
    queries: 600,
    overLatency: 42,
    minQueries: 64,
    enough: true,
    estimateMs: 1.94,
  },
  samplesPerS: 666,
  server: null,
};

const server: ScenarioResult = {
  ...singleStream,
  scenario: { kind: "server", percentile: 0.99, boundMs: 10, confirmations: 2, minDurationMs: 2_000 },
  path: "edge",
  earlyStopping: {
    ...singleStream.earlyStopping!,
    percentile: 0.99,
    overLatency: 6,
    minQueries: 1_309,
    enough: false,
    estimateMs: null,
  },
  errors: 3,
  errorCodes: { overloaded: 3 },
  samplesPerS: 900,
  server: {
    highestRatePerS: 900,
    boundMs: 10,
    searched: true,
    curve,
    front: [100, 200, 400, 800, 900].map((ratePerS, index) => ({
      ratePerS,
      percentileMs: [1.8, 1.9, 2.4, 5.1, 7.7][index] ?? 0,
    })),
  },
};

/** Two scenarios and three requirements: one passes, one fails and one is undecided. */
export function validationResult(changes: Partial<ValidationResult> = {}): ValidationResult {
  return {
    kind: "validation",
    subject,
    modelVersionId: null,
    place: { deviceKey: "cpu", backend: "ort-cpu", variant: "fp32", placementId: null, configuration: null },
    scenarios: [singleStream, server],
    startup: { loadMs: 41, firstAnswerMs: 3.5 },
    memory: { hostPeakBytes: 212 * 2 ** 20, hostGrownBytes: 3 * 2 ** 20, gpuPeakBytes: null },
    artifactBytes: 178_000,
    fidelity: 1,
    verdict: "fail",
    verdicts: [
      {
        requirement: { metric: "latencyMs", percentile: 0.5, atMost: 10 },
        scenario: "singleStream",
        path: "runner",
        outcome: "pass",
        measured: 1.5,
        low: 1.47,
        high: 1.53,
        margin: 0.85,
        detail: "The whole interval lies under the bound.",
      },
      {
        requirement: { metric: "throughputPerS", atLeast: 1_000, scenario: "server" },
        scenario: "server",
        path: "edge",
        outcome: "fail",
        measured: 900,
        low: null,
        high: null,
        margin: -0.1,
        detail: "The highest rate that keeps the bound is 900 queries a second.",
      },
      {
        requirement: { metric: "latencyMs", percentile: 0.99, atMost: 2 },
        scenario: "singleStream",
        path: "runner",
        outcome: "insufficient",
        measured: 1.99,
        low: 1.98,
        high: null,
        margin: 0.005,
        detail: "600 queries give the 99th percentile no upper bound: 662 would.",
      },
    ],
    environment,
    ...changes,
  };
}

function trial(maxRows: number, throughputPerS: number, latencyMs: number): OptimisationTrial {
  return OptimisationTrial.parse({
    candidate: { deviceKey: "cpu", backend: "ort-cpu", variant: "fp32", threads: 1, maxRows, concurrency: 2 * maxRows },
    outcome: "measured",
    problem: null,
    throughputPerS,
    p50Ms: latencyMs / 2,
    latencyMs,
    memoryBytes: (100 + maxRows) * 2 ** 20,
    fidelity: 1,
    queries: 400,
    rounds: 1,
    predicted: null,
    misses: [
      ...(latencyMs <= 10
        ? []
        : [{ target: "latencyMs" as const, wanted: 10, found: latencyMs, factor: latencyMs / 10 }]),
      ...(throughputPerS >= 1_000
        ? []
        : [
            {
              target: "throughputPerS" as const,
              wanted: 1_000,
              found: throughputPerS,
              factor: 1_000 / throughputPerS,
            },
          ]),
    ],
  });
}

const failedTrial: OptimisationTrial = {
  ...trial(64, 1, 1),
  outcome: "failed",
  problem: {
    type: "https://millrace.test/problems#backend-failed",
    title: "The backend failed",
    status: 502,
    code: "backend-failed",
    detail: "The batch of 64 rows ran out of memory.",
    retryable: false,
  } as OptimisationTrial["problem"],
  throughputPerS: null,
  p50Ms: null,
  latencyMs: null,
  memoryBytes: null,
  fidelity: null,
  queries: 0,
  misses: [],
};

/** Six trials: the third is best and the last failed. */
export function optimisationResult(changes: Partial<OptimisationResult> = {}): OptimisationResult {
  return {
    kind: "optimisation",
    subject,
    modelVersionId: null,
    targets: { latencyMs: 10, percentile: 0.99, throughputPerS: 1_000, minFidelity: 0 },
    objective: "throughput",
    candidates: 48,
    trials: [
      trial(1, 610, 2.1),
      trial(4, 1_450, 4.2),
      trial(8, 2_100, 7.6),
      trial(16, 2_300, 14.8),
      trial(2, 900, 5.9),
      failedTrial,
    ],
    default: 0,
    best: 2,
    pareto: [0, 1, 2, 3],
    infeasible: null,
    gain: { throughput: 3.44, latency: 0.28 },
    applied: null,
    budgetMs: 60_000,
    spentMs: 31_200,
    complete: true,
    environment,
    ...changes,
  };
}

/** The same where no trial reaches the targets: the second comes nearest. */
export function infeasibleResult(): OptimisationResult {
  const misses = [{ target: "latencyMs" as const, wanted: 0.5, found: 4.2, factor: 8.4 }];
  return optimisationResult({
    targets: { latencyMs: 0.5, percentile: 0.99, throughputPerS: 1_000, minFidelity: 0 },
    best: null,
    gain: null,
    trials: optimisationResult().trials.map((each, index) => (index === 1 ? { ...each, misses } : each)),
    infeasible: {
      nearest: 1,
      misses,
      detail:
        "No configuration reaches every target. Nearest is fp32 by ort-cpu on cpu, 1 thread, batches up to 4, 8 in flight: p99 latency is 4.2 ms where 0.5 ms is wanted (8.4 times too slow).",
    },
  });
}
