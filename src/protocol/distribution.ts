import { z } from "@hono/zod-openapi";

/** Where a duration was read: GPU timestamp queries, or a monotonic clock of the named process. */
export const Clock = z.enum(["gpu-timestamp", "runner-wall", "edge-wall"]).openapi("Clock");
export type Clock = z.infer<typeof Clock>;

/** A whole distribution: exact extremes and moments, and a mergeable sketch (base64, see methodology). */
export const Distribution = z
  .object({
    count: z.number().int().min(0),
    min: z.number(),
    max: z.number(),
    sum: z.number(),
    mean: z.number(),
    standardDeviation: z.number(),
    p50: z.number(),
    p90: z.number(),
    p95: z.number(),
    p99: z.number(),
    sketch: z.string(),
  })
  .openapi("Distribution");
export type Distribution = z.infer<typeof Distribution>;
