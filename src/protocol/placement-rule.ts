import { z } from "@hono/zod-openapi";
import { idSchema } from "./id.ts";
import { LIMITS } from "./limits.ts";
import { Name } from "./page.ts";

const kinds = {
  automatic: { kind: z.literal("automatic") },
  pinned: { kind: z.literal("pinned"), runnerIds: z.array(idSchema("runner")).min(1).max(LIMITS.pinnedRunners) },
  profile: { kind: z.literal("profile"), profile: Name },
};

/** Which runners measure and serve a model: all, those that are named, or those that fit a hardware profile. */
export const PlacementRule = z
  .discriminatedUnion("kind", [z.object(kinds.automatic), z.object(kinds.pinned), z.object(kinds.profile)])
  .openapi("PlacementRule");
export type PlacementRule = z.infer<typeof PlacementRule>;

/** A rule as it is asked for: a field that is not known is a mistake. */
export const PlacementRuleInput = z
  .discriminatedUnion("kind", [
    z.strictObject(kinds.automatic),
    z.strictObject(kinds.pinned),
    z.strictObject(kinds.profile),
  ])
  .openapi("PlacementRuleInput");

/** The rule of a model that was given none. */
export const AUTOMATIC: PlacementRule = { kind: "automatic" };
