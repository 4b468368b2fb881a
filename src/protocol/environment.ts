import { z } from "@hono/zod-openapi";
import { Fingerprint } from "./hardware.ts";

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
