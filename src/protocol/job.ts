import { z } from "@hono/zod-openapi";
import { Clock, Distribution } from "./distribution.ts";
import { Backend, Fingerprint } from "./hardware.ts";
import { idSchema } from "./id.ts";
import { LIMITS } from "./limits.ts";
import { Instant, Name, PageQuery, pageOf } from "./page.ts";
import { Problem } from "./problem.ts";
import { DType } from "./tensor.ts";

/** Which runner may take a job. */
const targetFields = {
  runnerId: idSchema("runner").optional(),
  profile: Name.optional().openapi({ description: "Only runners that fit this hardware profile" }),
  label: Name.optional().openapi({ description: "Stored with the series, such as a branch" }),
};

/** Runs one kernel: outputs are checked against its reference first, then it is timed. */
const benchmarkFields = {
  kind: z.literal("benchmark"),
  kernel: Name,
  shape: z.record(z.string(), z.number().int().min(1)).default({}).openapi({
    description: "Sizes by name; what is absent takes the kernel's default",
  }),
  dtype: DType.default("float32"),
  variant: Name.optional(),
  warmup: z.number().int().min(0).max(LIMITS.maxWarmup).default(5),
  iterations: z.number().int().min(1).max(LIMITS.maxIterations).default(100),
  seed: z
    .number()
    .int()
    .min(0)
    .max(2 ** 32 - 1)
    .default(1),
  timeoutMs: z.number().int().min(100).max(600_000).default(120_000),
  ...targetFields,
};
export const BenchmarkSpec = z.object(benchmarkFields).openapi("BenchmarkSpec");
export type BenchmarkSpec = z.infer<typeof BenchmarkSpec>;

/** Places a model version on a runner: loads it, checks it, measures it. */
const calibrationFields = {
  kind: z.literal("calibration"),
  modelVersionId: idSchema("modelVersion"),
  iterations: z.number().int().min(10).max(LIMITS.maxIterations).default(300),
  timeoutMs: z.number().int().min(100).max(600_000).default(120_000),
  ...targetFields,
};
export const CalibrationSpec = z.object(calibrationFields).openapi("CalibrationSpec");
export type CalibrationSpec = z.infer<typeof CalibrationSpec>;

export const JobSpec = z.discriminatedUnion("kind", [BenchmarkSpec, CalibrationSpec]).openapi("JobSpec");
export type JobSpec = z.infer<typeof JobSpec>;

/** A job as it is asked for: like its spec, but a field that is not known is a mistake. */
export const JobInput = z
  .discriminatedUnion("kind", [z.strictObject(benchmarkFields), z.strictObject(calibrationFields)])
  .openapi("JobInput");

/** What a job ran on and how busy it was: stored with every result. */
export const Environment = z
  .object({
    deviceKey: z.string(),
    deviceName: z.string(),
    software: z.boolean(),
    fingerprint: Fingerprint,
    runnerVersion: z.string(),
    loadAverage: z.number().openapi({ description: "One-minute load average when the run began" }),
    otherJobs: z.number().int().openapi({ description: "Jobs that ran on the runner at the same time" }),
  })
  .openapi("Environment");
export type Environment = z.infer<typeof Environment>;

export const BenchmarkResult = z
  .object({
    kind: z.literal("benchmark"),
    kernel: Name,
    variant: Name,
    shape: z.record(z.string(), z.number().int()),
    dtype: DType,
    correctness: z.object({
      correct: z.literal(true),
      checkedElements: z.number().int(),
      maxAbsoluteError: z.number(),
      maxRelativeError: z.number(),
      tolerance: z.string(),
    }),
    warmup: z.number().int(),
    /** Duration of the dispatch on the GPU's own clock; null on a device without timestamps. */
    gpuMs: Distribution.nullable(),
    /** Submit to completion, on the runner's monotonic clock. */
    wallMs: Distribution,
    /** The clock that throughput is computed from. */
    clock: Clock,
    gflops: z.number().nullable(),
    gigabytesPerSecond: z.number(),
    environment: Environment,
  })
  .openapi("BenchmarkResult");
export type BenchmarkResult = z.infer<typeof BenchmarkResult>;

/** One backend's outcome for a calibrated version. `agrees` compares with the CPU provider on seeded inputs. */
export const CalibratedPlacement = z.object({
  deviceKey: z.string(),
  variant: Name,
  backend: Backend,
  batch: z.number().int(),
  agrees: z.boolean(),
  maxRelativeError: z.number(),
  loadMs: z.number(),
  serviceMs: Distribution,
  environment: Environment,
});
export type CalibratedPlacement = z.infer<typeof CalibratedPlacement>;

export const CalibrationResult = z
  .object({
    kind: z.literal("calibration"),
    modelVersionId: idSchema("modelVersion"),
    placements: z.array(CalibratedPlacement).min(1).max(64),
    /** Runner to edge and back over the socket, on the runner's clock. */
    linkMs: Distribution,
  })
  .openapi("CalibrationResult");
export type CalibrationResult = z.infer<typeof CalibrationResult>;

export const JobResult = z.discriminatedUnion("kind", [BenchmarkResult, CalibrationResult]).openapi("JobResult");
export type JobResult = z.infer<typeof JobResult>;

export const JobProgress = z
  .object({ phase: z.string().max(64), done: z.number().int().min(0), total: z.number().int().min(0) })
  .openapi("JobProgress");
export type JobProgress = z.infer<typeof JobProgress>;

export const JobState = z.enum(["queued", "leased", "succeeded", "failed", "cancelled"]).openapi("JobState");
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
    createdAt: Instant,
    startedAt: Instant.nullable(),
    endedAt: Instant.nullable(),
  })
  .openapi("Job");
export type Job = z.infer<typeof Job>;

/** A job in a list: without its result. */
export const JobSummary = Job.omit({ result: true }).openapi("JobSummary");
export type JobSummary = z.infer<typeof JobSummary>;
export const JobPage = pageOf(JobSummary, "Job");

export const JobListQuery = PageQuery.extend({
  state: JobState.optional(),
  kind: z.enum(["benchmark", "calibration"]).optional(),
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
