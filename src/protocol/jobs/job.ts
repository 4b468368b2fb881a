import { z } from "zod";
import { BenchmarkResult, BenchmarkSpec, benchmarkFields } from "./benchmark.ts";
import { CalibrationResult, CalibrationSpec, calibrationFields } from "./calibration.ts";
import { CompressionInput, CompressionResult, CompressionSpec } from "./compression.ts";
import { ConsensusInput, ConsensusResult, ConsensusSpec } from "./consensus.ts";
import { EvaluationInput, EvaluationResult, EvaluationSpec } from "./evaluation/evaluation.ts";
import { EvolutionInput, EvolutionResult, EvolutionSpec } from "./evolution.ts";
import { idSchema } from "../wire/id.ts";
import { OptimisationInput, OptimisationResult, OptimisationSpec } from "./optimisation.ts";
import { Instant, PageQuery, pageOf } from "../wire/page.ts";
import { ProbeResult, ProbeSpec, probeFields } from "./probe.ts";
import { Problem } from "../wire/problem.ts";
import { RooflinePosition } from "../fleet/roofline.ts";
import { ThroughputResult, ThroughputSpec, throughputFields } from "./throughput.ts";
import { CurvePoint, TrainingInput, TrainingResult, TrainingSpec } from "./training.ts";
import { TuningResult, TuningSpec, tuningFields } from "./tuning.ts";
import { ValidationInput, ValidationResult, ValidationSpec } from "./validation.ts";

/** Kinds of job. Each has a file beside this one with its spec and its result. */
export const JobKind = z.enum([
  "benchmark",
  "throughput",
  "calibration",
  "tuning",
  "validation",
  "optimisation",
  "probe",
  "evaluation",
  "training",
  "evolution",
  "consensus",
  "compression",
]);
export type JobKind = z.infer<typeof JobKind>;

export const JobSpec = z
  .discriminatedUnion("kind", [
    BenchmarkSpec,
    ThroughputSpec,
    CalibrationSpec,
    TuningSpec,
    ValidationSpec,
    OptimisationSpec,
    ProbeSpec,
    EvaluationSpec,
    TrainingSpec,
    EvolutionSpec,
    ConsensusSpec,
    CompressionSpec,
  ])
  .meta({ id: "JobSpec" });
export type JobSpec = z.infer<typeof JobSpec>;

/** A job as it is asked for: like its spec, but a field that is not known is a mistake. */
export const JobInput = z
  .discriminatedUnion("kind", [
    z.strictObject(benchmarkFields),
    z.strictObject(throughputFields),
    z.strictObject(calibrationFields),
    z.strictObject(tuningFields),
    ValidationInput,
    OptimisationInput,
    z.strictObject(probeFields),
    EvaluationInput,
    TrainingInput,
    EvolutionInput,
    ConsensusInput,
    CompressionInput,
  ])
  .meta({ id: "JobInput" });
export type JobInput = z.infer<typeof JobInput>;

export const JobResult = z
  .discriminatedUnion("kind", [
    BenchmarkResult,
    ThroughputResult,
    CalibrationResult,
    TuningResult,
    ValidationResult,
    OptimisationResult,
    ProbeResult,
    EvaluationResult,
    TrainingResult,
    EvolutionResult,
    ConsensusResult,
    CompressionResult,
  ])
  .meta({ id: "JobResult" });
export type JobResult = z.infer<typeof JobResult>;

export const JobProgress = z
  .object({
    phase: z.string().max(64),
    done: z.number().int().min(0),
    total: z.number().int().min(0),
    /** Of a tuning: how often the candidates were thinned, and how many are left. */
    rung: z.number().int().min(0).optional(),
    candidatesLeft: z.number().int().min(0).optional(),
    /** Of an optimisation: the best so far that reaches every target. */
    best: z.object({ throughputPerS: z.number(), latencyMs: z.number() }).optional(),
    /** Of a training: its latest generation. */
    point: CurvePoint.optional(),
  })
  .meta({ id: "JobProgress" });
export type JobProgress = z.infer<typeof JobProgress>;

export const JobState = z.enum(["queued", "leased", "succeeded", "failed", "cancelled"]).meta({ id: "JobState" });
export type JobState = z.infer<typeof JobState>;

export const Job = z
  .object({
    id: idSchema("job"),
    state: JobState,
    spec: JobSpec,
    attempt: z.number().int().min(0),
    maxAttempts: z.number().int().min(1),
    runnerId: idSchema("runner").nullable(),
    runId: idSchema("run").nullable(),
    progress: JobProgress.nullable(),
    result: JobResult.nullable(),
    problem: Problem.nullable(),
    submittedBy: z
      .string()
      .nullable()
      .default(null)
      .meta({ description: "Id of the key; null of what the edge submitted by itself" }),
    createdAt: Instant,
    startedAt: Instant.nullable(),
    endedAt: Instant.nullable(),
  })
  .meta({ id: "Job" });
export type Job = z.infer<typeof Job>;

/** A job in a list: without its result, but for a benchmark's place under the roofs and what a verdict was. */
export const JobSummary = Job.omit({ result: true })
  .extend({
    roofline: RooflinePosition.nullable().default(null),
    verdict: z.enum(["pass", "fail", "insufficient"]).nullable().default(null).meta({
      description:
        "Of a validation; of an optimisation whether a configuration reaches every target; of a probe whether every claim is true",
    }),
  })
  .meta({ id: "JobSummary" });
export type JobSummary = z.infer<typeof JobSummary>;
export const JobPage = pageOf(JobSummary, "Job");

export const JobListQuery = PageQuery.extend({
  state: JobState.optional().meta({ description: "Jobs in this state only" }),
  kind: JobKind.optional().meta({ description: "Jobs of this kind only" }),
  submittedBy: z.string().max(64).optional().meta({ description: "Jobs of this key only, by its id" }),
});
export type JobListQuery = z.infer<typeof JobListQuery>;

/** Events of one job's stream. */
export const JobEvent = z.object({
  seq: z.number().int(),
  at: Instant,
  type: z.enum(["queued", "leased", "progress", "requeued", "succeeded", "failed", "cancelled"]),
  attempt: z.number().int(),
  progress: JobProgress.nullable(),
  detail: z.string().nullable(),
});
export type JobEvent = z.infer<typeof JobEvent>;
