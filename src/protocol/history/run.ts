import { z } from "zod";
import { JobResult, JobSpec } from "../jobs/job.ts";
import { Clock } from "../wire/distribution.ts";
import { idSchema } from "../wire/id.ts";
import { Instant } from "../wire/page.ts";

/** Whose output a report is; `native` is our own form. */
export const ReportFormat = z
  .enum(["native", "google-benchmark", "criterion", "hyperfine", "mitata", "tinybench"])
  .meta({ id: "ReportFormat" });
export type ReportFormat = z.infer<typeof ReportFormat>;

/** Samples of a run in order, where they were kept. */
export const RunSamples = z
  .object({
    measurements: z.array(
      z.object({
        subject: z.string(),
        metric: z.string(),
        unit: z.string(),
        clock: Clock.nullable(),
        /** Absent where the runner sent it, which knows no series. */
        series: idSchema("series").optional(),
        values: z.array(z.number()),
      }),
    ),
  })
  .meta({ id: "RunSamples" });
export type RunSamples = z.infer<typeof RunSamples>;

const samplesBytes = z
  .number()
  .int()
  .nullable()
  .meta({ description: "Size of its raw samples as they are kept, compressed; null where none are" });

/** One execution of a job that ended well. */
const JobRun = z
  .object({
    origin: z.literal("job"),
    id: idSchema("run"),
    jobId: idSchema("job"),
    attempt: z.number().int(),
    runnerId: idSchema("runner"),
    deviceKey: z.string(),
    spec: JobSpec,
    result: JobResult,
    traceBytes: z.number().int().nullable().meta({ description: "Size of its trace; null where none is kept" }),
    samplesBytes,
    startedAt: Instant,
    endedAt: Instant,
  })
  .meta({ id: "JobRun" });
export type JobRun = z.infer<typeof JobRun>;

/** A run outside millrace whose measurements were reported. */
export const ReportRun = z
  .object({
    origin: z.literal("report"),
    id: idSchema("run"),
    owner: z.string().meta({ description: "Id of the key that reported it" }),
    name: z.string(),
    tool: ReportFormat,
    label: z.string().nullable(),
    revision: z.string().nullable(),
    points: z.number().int(),
    samplesBytes,
    at: Instant.meta({ description: "When it ran; where it did not say, when it came" }),
    storedAt: Instant,
  })
  .meta({ id: "ReportRun" });
export type ReportRun = z.infer<typeof ReportRun>;

/** One execution that measured. */
export const Run = z.discriminatedUnion("origin", [JobRun, ReportRun]).meta({ id: "Run" });
export type Run = z.infer<typeof Run>;
