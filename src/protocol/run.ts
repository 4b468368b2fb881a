import { z } from "@hono/zod-openapi";
import { idSchema } from "./id.ts";
import { JobResult, JobSpec } from "./job.ts";
import { Instant } from "./page.ts";

/** One execution of a job that ended well. */
export const Run = z
  .object({
    id: idSchema("run"),
    jobId: idSchema("job"),
    attempt: z.number().int(),
    runnerId: idSchema("runner"),
    deviceKey: z.string(),
    spec: JobSpec,
    result: JobResult,
    traceBytes: z.number().int().nullable().openapi({ description: "Size of its trace; null where none is kept" }),
    startedAt: Instant,
    endedAt: Instant,
  })
  .openapi("Run");
export type Run = z.infer<typeof Run>;
