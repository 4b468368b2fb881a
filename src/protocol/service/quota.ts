import { z } from "zod";
import { Name } from "../wire/page.ts";

/**
 * What a project has a quota of. Bytes are those of its files, points those of its reports; a day begins at midnight in
 * UTC.
 */
export const QuotaName = z.enum([
  "models",
  "versions",
  "storedBytes",
  "uploads",
  "populations",
  "archives",
  "itemMemories",
  "agentPools",
  "series",
  "runs",
  "points",
  "pointsADay",
  "thresholds",
  "requirementSets",
  "baselines",
  "profiles",
  "webhooks",
  "runners",
  "registrationTokens",
  "keys",
  "queuedJobs",
  "eventStreams",
]);
export type QuotaName = z.infer<typeof QuotaName>;

/** One quota of a project. */
export const Quota = z
  .object({
    name: z.string().meta({ description: "A field of `QuotaLimits`, or one of a newer edge" }),
    used: z.number().int(),
    limit: z.number().int(),
    isSet: z.boolean().meta({ description: "Whether the operator set the limit; else it is the default" }),
  })
  .meta({ id: "Quota" });
export type Quota = z.infer<typeof Quota>;

/** A project with all its quotas. */
export const ProjectQuotas = z.object({ project: Name, quotas: z.array(Quota) }).meta({ id: "ProjectQuotas" });
export type ProjectQuotas = z.infer<typeof ProjectQuotas>;

/** Limits in place of the defaults; a quota without one here has its default. */
export const QuotaLimits = z
  .partialRecord(QuotaName, z.number().int().min(0), {
    error: ({ code }) => (code === "invalid_key" ? "is not a quota" : undefined),
  })
  .meta({ id: "QuotaLimits" });
export type QuotaLimits = z.infer<typeof QuotaLimits>;
