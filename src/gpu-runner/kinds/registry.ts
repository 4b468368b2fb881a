import type { KernelHealth } from "../../protocol/fleet/health.ts";
import type { CalibratedPlacement } from "../../protocol/jobs/calibration.ts";
import type { JobKind, JobResult, JobSpec } from "../../protocol/jobs/job.ts";
import { healthOfBenchmark, runBenchmark } from "./benchmark.ts";
import { runCalibration } from "./calibration/run-calibration.ts";
import { runCompression } from "./compression.ts";
import { runConsensus } from "./consensus.ts";
import { runEvaluation } from "./evaluation/run-evaluation.ts";
import { runEvolution } from "./evolution.ts";
import type { JobKindModule, WorkloadContext, WorkloadResult } from "./kind.ts";
import { runOptimisation } from "./optimisation/run-optimisation.ts";
import { runProbe } from "./probe/run-probe.ts";
import { healthOfThroughput, runThroughput } from "./throughput.ts";
import { runTraining } from "./training/run-training.ts";
import { runTuning } from "./tuning/run-tuning.ts";
import { runValidation } from "./validation/run-validation.ts";

const KINDS: { readonly [Kind in JobKind]: JobKindModule<Extract<JobSpec, { kind: Kind }>> } = {
  benchmark: { run: runBenchmark, kernelHealth: healthOfBenchmark },
  throughput: { run: runThroughput, kernelHealth: healthOfThroughput },
  calibration: { run: runCalibration, placements: ({ placements }) => placements },
  tuning: { run: runTuning },
  validation: { run: runValidation },
  optimisation: { run: runOptimisation },
  probe: { run: runProbe },
  evaluation: { run: runEvaluation },
  training: { run: runTraining },
  evolution: { run: runEvolution },
  consensus: { run: runConsensus },
  compression: { run: runCompression },
};

function kindOf({ kind }: { readonly kind: JobKind }): JobKindModule<JobSpec> {
  // A key and its module belong together, which the compiler cannot infer for a union.
  return KINDS[kind] as unknown as JobKindModule<JobSpec>;
}

/** Executes a job by its kind. Throws ProblemError on failure. */
export function runJob(spec: JobSpec, context: WorkloadContext): Promise<WorkloadResult> {
  return kindOf(spec).run(spec, context);
}

/** Health of a job's kernel on its device; null where the result has none. */
export function kernelHealthOf(result: JobResult, at: string): KernelHealth | null {
  return kindOf(result).kernelHealth?.(result, at) ?? null;
}

/** Measured places of the offered model. */
export function placementsOf(result: JobResult): readonly CalibratedPlacement[] {
  return kindOf(result).placements?.(result) ?? [];
}
