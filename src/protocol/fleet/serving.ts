import { z } from "zod";
import { idSchema } from "../wire/id.ts";
import { LIMITS } from "../wire/limits.ts";
import { Name } from "../wire/page.ts";

const kinds = {
  automatic: { kind: z.literal("automatic") },
  pinned: { kind: z.literal("pinned"), runnerIds: z.array(idSchema("runner")).min(1).max(LIMITS.pinnedRunners) },
  profile: { kind: z.literal("profile"), profile: Name },
  none: { kind: z.literal("none") },
};

/** Runners that measure and serve a model: all, the named ones, those that fit a hardware profile, or none. */
export const PlacementRule = z
  .discriminatedUnion("kind", [
    z.object(kinds.automatic),
    z.object(kinds.pinned),
    z.object(kinds.profile),
    z.object(kinds.none),
  ])
  .meta({ id: "PlacementRule" });
export type PlacementRule = z.infer<typeof PlacementRule>;

/** A rule as it is asked for: a field that is not known is a mistake. */
export const PlacementRuleInput = z
  .discriminatedUnion("kind", [
    z.strictObject(kinds.automatic),
    z.strictObject(kinds.pinned),
    z.strictObject(kinds.profile),
    z.strictObject(kinds.none),
  ])
  .meta({ id: "PlacementRuleInput" });

/** The rule of a model that was given none. */
export const AUTOMATIC: PlacementRule = { kind: "automatic" };

export const configurationFields = {
  threads: z.number().int().min(1).max(LIMITS.intraOpThreads).default(1).meta({
    description: "Threads that ONNX Runtime computes one operator with, on the CPU",
  }),
  maxRows: z.number().int().min(1).max(LIMITS.batchRows).nullable().default(null).meta({
    description: "Rows of one batch at most; null: as many as were measured to be worth it",
  }),
  maxInFlight: z.number().int().min(1).max(LIMITS.deviceQueueRequests).nullable().default(null).meta({
    description: "Requests that may wait and run at once; further ones are refused; null: as the device's queue takes",
  }),
};

/** Serving settings of a placement. */
export const ServingConfiguration = z.object(configurationFields).meta({ id: "ServingConfiguration" });
export type ServingConfiguration = z.infer<typeof ServingConfiguration>;

/** The same as it is asked for: a field that is not known is a mistake. */
export const ServingConfigurationInput = z.strictObject(configurationFields).meta({ id: "ServingConfigurationInput" });

/** Initial configuration of every placement. */
export const DEFAULT_CONFIGURATION: ServingConfiguration = { threads: 1, maxRows: null, maxInFlight: null };

export function isSameConfiguration(one: ServingConfiguration, other: ServingConfiguration): boolean {
  return one.threads === other.threads && one.maxRows === other.maxRows && one.maxInFlight === other.maxInFlight;
}
