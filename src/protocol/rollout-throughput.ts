import { z } from "@hono/zod-openapi";
import { Backend } from "./hardware.ts";

/** How fast episodes were rolled out, with everything that is needed to read it. */
export const RolloutThroughput = z
  .object({
    backend: Backend,
    chosenFrom: z.array(z.object({ backend: Backend, stepsPerSecond: z.number() })).openapi({
      description:
        "What each backend did in the trial by which this one was chosen; empty: it was asked for, or is the only one",
    }),
    steps: z.number().int().openapi({ description: "Of the environment, all members and episodes together" }),
    evaluations: z.number().int().openapi({ description: "Episodes" }),
    durationMs: z.number(),
    stepsPerSecond: z.number(),
    evaluationsPerSecond: z.number(),
    meanEpisodeLength: z.number(),
    parameters: z.number().int().openapi({ description: "Of one member's network" }),
    members: z.number().int(),
    inferenceIncluded: z.literal(true),
  })
  .openapi("RolloutThroughput");
export type RolloutThroughput = z.infer<typeof RolloutThroughput>;
