import type { OptimisationResult, OptimisationSpec } from "../../../src/protocol/jobs/optimisation.ts";
import type { ServingConfiguration } from "../../../src/protocol/fleet/serving.ts";
import type { ValidationResult, ValidationSpec } from "../../../src/protocol/jobs/validation.ts";
import { calibrationResult, distribution } from "./samples.ts";

/** A single stream of a model on the CPU of a runner. */
export function answerValidation(
  spec: Pick<ValidationSpec, "subject" | "modelVersionId" | "placementId" | "configuration">,
  latenciesMs: readonly number[] = [1, 2, 3],
): ValidationResult {
  const { subject, modelVersionId = null, placementId = null, configuration = null } = spec;
  const { environment: onCpu } = calibrationResult("").placements[0]!;
  return {
    kind: "validation",
    subject,
    modelVersionId,
    place: { deviceKey: "cpu", backend: "ort-cpu", variant: "fp32", placementId, configuration },
    scenarios: [
      {
        scenario: { kind: "singleStream", percentile: 0.9, minDurationMs: 100 },
        path: "runner",
        queries: latenciesMs.length,
        samples: latenciesMs.length,
        durationMs: 100,
        short: true,
        errors: 0,
        errorCodes: {},
        latencyMs: distribution(latenciesMs),
        percentiles: [],
        earlyStopping: {
          percentile: 0.9,
          queries: latenciesMs.length,
          overLatency: 0,
          minQueries: 44,
          enough: true,
          estimateMs: 3,
        },
        samplesPerS: 500,
        server: null,
      },
    ],
    startup: { loadMs: 5, firstAnswerMs: 1 },
    memory: { hostPeakBytes: 1_000, hostGrownBytes: 10, gpuPeakBytes: 0 },
    artifactBytes: 100,
    fidelity: 1,
    verdict: "pass",
    verdicts: [],
    environment: onCpu,
  };
}

/** A search of two trials, whose second is the best and was applied. */
export function answerOptimisation(
  { subject, modelVersionId, objective, targets, budgetMs, standing }: OptimisationSpec,
  configuration: ServingConfiguration = { threads: 2, maxRows: 8, maxInFlight: null },
): OptimisationResult {
  const [placement] = calibrationResult("").placements;
  const served = modelVersionId === undefined ? { subject } : { subject, modelVersionId };
  const placementId = standing === undefined ? {} : { placementId: standing.placementId };
  const trial = (threads: number, throughputPerS: number): OptimisationResult["trials"][number] => ({
    candidate: { deviceKey: "cpu", backend: "ort-cpu", variant: "fp32", threads, maxRows: 8, concurrency: 16 },
    outcome: "measured",
    problem: null,
    throughputPerS,
    p50Ms: 4,
    latencyMs: 8,
    memoryBytes: 1e8,
    fidelity: 1,
    queries: 100,
    rounds: 2,
    predicted: null,
    misses: [],
  });
  return {
    kind: "optimisation",
    subject,
    modelVersionId: modelVersionId ?? null,
    targets,
    objective,
    candidates: 112,
    trials: [trial(1, 1_000), trial(2, 1_500)],
    default: 0,
    best: 1,
    pareto: [1],
    infeasible: null,
    gain: { throughput: 1.5, latency: 1 },
    applied: {
      applied: true,
      detail: "Applied: the placement is served by it from now on.",
      configuration,
      before: answerValidation({ ...served, ...placementId, configuration: standing?.configuration }),
      after: answerValidation({ ...served, configuration }),
      placement: { ...placement!, configuration },
    },
    budgetMs,
    spentMs: 1_000,
    complete: true,
    environment: placement!.environment,
  };
}
