import { z } from "@hono/zod-openapi";
import { BenchmarkResult, BenchmarkSpec, benchmarkFields } from "./benchmark.ts";
import { CalibrationResult, CalibrationSpec, calibrationFields } from "./calibration.ts";
import { idSchema } from "./id.ts";
import { Instant, PageQuery, pageOf } from "./page.ts";
import { Problem } from "./problem.ts";
import { RooflinePosition } from "./roofline.ts";
import { ThroughputResult, ThroughputSpec, throughputFields } from "./throughput.ts";
import { TuningResult, TuningSpec, tuningFields } from "./tuning.ts";

/** Kinds of job. Each has a file beside this one with its spec and its result. */
const JobKind = z.enum(["benchmark", "throughput", "calibration", "tuning"]);

export const JobSpec = z
  .discriminatedUnion("kind", [BenchmarkSpec, ThroughputSpec, CalibrationSpec, TuningSpec])
  .openapi("JobSpec");
export type JobSpec = z.infer<typeof JobSpec>;

/** A job as it is asked for: like its spec, but a field that is not known is a mistake. */
export const JobInput = z
  .discriminatedUnion("kind", [
    z.strictObject(benchmarkFields),
    z.strictObject(throughputFields),
    z.strictObject(calibrationFields),
    z.strictObject(tuningFields),
  ])
  .openapi("JobInput");

export const JobResult = z
  .discriminatedUnion("kind", [BenchmarkResult, ThroughputResult, CalibrationResult, TuningResult])
  .openapi("JobResult");
export type JobResult = z.infer<typeof JobResult>;

export const JobProgress = z
  .object({
    phase: z.string().max(64),
    done: z.number().int().min(0),
    total: z.number().int().min(0),
    /** Of a tuning: how often the candidates were thinned, and how many are left. */
    rung: z.number().int().min(0).optional(),
    candidatesLeft: z.number().int().min(0).optional(),
  })
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

/** A job in a list: without its result, but for a benchmark's place under the roofs. */
export const JobSummary = Job.omit({ result: true })
  .extend({ roofline: RooflinePosition.nullable().default(null) })
  .openapi("JobSummary");
export type JobSummary = z.infer<typeof JobSummary>;
export const JobPage = pageOf(JobSummary, "Job");

export const JobListQuery = PageQuery.extend({
  state: JobState.optional(),
  kind: JobKind.optional(),
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
