import { z } from "zod";

/** Clock of a duration: GPU timestamp queries, or a monotonic clock of the named process. */
export const Clock = z.enum(["gpu-timestamp", "runner-wall", "edge-wall"]).meta({ id: "Clock" });
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
  .meta({ id: "Distribution" });
export type Distribution = z.infer<typeof Distribution>;

/** A statistic of scores with its interval: stratified percentile bootstrap (see docs/policies.md). */
export const Estimate = z.object({ value: z.number(), low: z.number(), high: z.number() }).meta({ id: "Estimate" });
export type Estimate = z.infer<typeof Estimate>;

/** Scores of one policy or population, of returns and of returns normalised by the environment's worst and best. */
export const Scores = z
  .object({
    mean: Estimate.meta({ description: "Of returns" }),
    iqm: Estimate.meta({ description: "Interquartile mean of normalised returns" }),
    median: Estimate.meta({ description: "Of normalised returns" }),
    optimalityGap: Estimate.meta({ description: "Of normalised returns below 1" }),
    profile: z
      .array(Estimate.extend({ tau: z.number() }))
      .max(101)
      .meta({ description: "Share of episodes whose normalised return is above each tau" }),
    resamples: z.number().int().meta({ description: "Of the bootstrap; of the profile 2,000 at most" }),
    seed: z.number().int().meta({ description: "Of the bootstrap" }),
  })
  .meta({ id: "Scores" });
export type Scores = z.infer<typeof Scores>;
