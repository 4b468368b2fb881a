import { z } from "@hono/zod-openapi";
import { LIMITS } from "./limits.ts";
import { Instant, Name, pageOf } from "./page.ts";

const Share = z.number().min(0).max(0.95);

/** Agents, each a state of so many numbers, which a runner brings into its memory to work on them. */
export const AgentPoolSpec = z
  .strictObject({
    name: Name,
    agents: z.number().int().min(1).max(LIMITS.poolAgents),
    stateSize: z
      .number()
      .int()
      .min(4)
      .max(LIMITS.poolStateSize)
      .multipleOf(4)
      .openapi({ description: "Numbers of one agent: what is left over of four is yours to fill up" }),
    residency: z.enum(["gpu", "host"]).default("gpu").openapi({
      description: "Where the states are kept between jobs, as long as there is room: on the device, or beside it",
    }),
    minFreeGpu: Share.default(0.1).openapi({
      description: "Share of what the device keeps between dispatches that stays free; else the pool goes to the host",
    }),
    minFreeHost: Share.default(0.15).openapi({
      description: "Share of the machine's memory that stays free; else a job fails with `out-of-memory`",
    }),
  })
  .openapi("AgentPoolSpec");
export type AgentPoolSpec = z.infer<typeof AgentPoolSpec>;

export const AgentPool = z
  .object({
    ...AgentPoolSpec.shape,
    digest: z.string().nullable().openapi({ description: "Of the states; null: every number is zero" }),
    sizeBytes: z.number().int(),
    generation: z.number().int(),
    version: z.number().int(),
    createdAt: Instant,
    updatedAt: Instant,
  })
  .openapi("AgentPool");
export type AgentPool = z.infer<typeof AgentPool>;
export const AgentPoolPage = pageOf(AgentPool, "AgentPool");

/** A pool as a runner gets it with a job. */
export const PooledAgents = z.object({
  name: Name,
  digest: z.string().nullable(),
  agents: z.number().int().min(1),
  stateSize: z.number().int().min(4),
  residency: z.enum(["gpu", "host"]),
  minFreeGpu: z.number(),
  minFreeHost: z.number(),
  generation: z.number().int(),
  version: z.number().int(),
});
export type PooledAgents = z.infer<typeof PooledAgents>;

/** Where a runner had a pool while it worked on it. */
export const PoolPlace = z.object({
  tier: z.enum(["gpu", "host"]),
  /** Of the tier, with the pool in it. */
  freeShare: z.number(),
});
export type PoolPlace = z.infer<typeof PoolPlace>;
