import { z } from "@hono/zod-openapi";
import { idSchema } from "./id.ts";
import { JobResult, JobSpec } from "./job.ts";
import { Instant } from "./page.ts";
import { ReportFormat } from "./report-format.ts";

const samplesBytes = z
  .number()
  .int()
  .nullable()
  .openapi({ description: "Size of its raw samples as they are kept, compressed; null where none are" });

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
    traceBytes: z.number().int().nullable().openapi({ description: "Size of its trace; null where none is kept" }),
    samplesBytes,
    startedAt: Instant,
    endedAt: Instant,
  })
  .openapi("JobRun");
export type JobRun = z.infer<typeof JobRun>;

/** One execution elsewhere, of which somebody reported what was measured. */
export const ReportRun = z
  .object({
    origin: z.literal("report"),
    id: idSchema("run"),
    owner: z.string().openapi({ description: "Id of the key that reported it" }),
    name: z.string(),
    tool: ReportFormat,
    label: z.string().nullable(),
    revision: z.string().nullable(),
    points: z.number().int(),
    samplesBytes,
    at: Instant.openapi({ description: "When it ran; where it did not say, when it came" }),
    storedAt: Instant,
  })
  .openapi("ReportRun");
export type ReportRun = z.infer<typeof ReportRun>;

/** One execution that measured. */
export const Run = z.discriminatedUnion("origin", [JobRun, ReportRun]).openapi("Run");
export type Run = z.infer<typeof Run>;
