import { z } from "@hono/zod-openapi";
import { idSchema } from "./id.ts";
import { LIMITS } from "./limits.ts";
import { Instant, Name } from "./page.ts";
import { PolicyNetwork } from "./policy-network.ts";
import { Estimate } from "./score.ts";

/** How a policy was made, and how it did in its environment since. */
export const PolicyCard = z
  .object({
    environment: Name,
    network: PolicyNetwork,
    training: z
      .object({
        jobId: idSchema("job"),
        algorithm: z.string(),
        generations: z.number().int(),
        steps: z.number().int(),
        seed: z.number().int(),
      })
      .nullable(),
    scores: z
      .array(
        z.object({
          runId: idSchema("run").nullable(),
          environment: Name,
          episodes: z.number().int(),
          seed: z.number().int(),
          mean: Estimate,
          at: Instant,
        }),
      )
      .max(LIMITS.policyScores)
      .openapi({ description: "The latest evaluations, the newest first" }),
  })
  .openapi("PolicyCard");
export type PolicyCard = z.infer<typeof PolicyCard>;
