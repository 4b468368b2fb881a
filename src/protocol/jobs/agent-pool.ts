import { z } from "zod";
import { defineEndpoint } from "../endpoint.ts";
import { LIMITS } from "../wire/limits.ts";
import { IfMatch, Instant, Name, pageOf, PageQuery } from "../wire/page.ts";

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
      .meta({ description: "Numbers of one agent: what is left over of four is yours to fill up" }),
    residency: z.enum(["gpu", "host"]).default("gpu").meta({
      description: "Where the states are kept between jobs, as long as there is room: on the device, or beside it",
    }),
    minFreeGpu: Share.default(0.1).meta({
      description: "Share of what the device keeps between dispatches that stays free; else the pool goes to the host",
    }),
    minFreeHost: Share.default(0.15).meta({
      description: "Share of the machine's memory that stays free; else a job fails with `out-of-memory`",
    }),
  })
  .meta({ id: "AgentPoolSpec" });
export type AgentPoolSpec = z.infer<typeof AgentPoolSpec>;

export const AgentPool = z
  .object({
    ...AgentPoolSpec.shape,
    digest: z.string().nullable().meta({ description: "Of the states; null: every number is zero" }),
    sizeBytes: z.number().int(),
    generation: z.number().int(),
    version: z.number().int(),
    createdAt: Instant,
    updatedAt: Instant,
  })
  .meta({ id: "AgentPool" });
export type AgentPool = z.infer<typeof AgentPool>;
const AgentPoolPage = pageOf(AgentPool, "AgentPool");

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

/** Tier that held a pool while a runner worked on it. */
export const PoolPlace = z.object({
  tier: z.enum(["gpu", "host"]),
  /** Free share of the tier, with the pool in it. */
  freeShare: z.number(),
});
export type PoolPlace = z.infer<typeof PoolPlace>;

const byName = z.object({ name: Name.meta({ description: "Name of a pool" }) });
const STATES = "application/octet-stream";

/** Pools of agents; jobs of the kinds `evolution` and `consensus` work on them. */
export const agentEndpoints = {
  createAgentPool: defineEndpoint({
    method: "post",
    path: "/v1/agent-pools",
    tag: "agents",
    summary: "Create a pool of agents, whose states are zero",
    access: "submit",
    body: AgentPoolSpec,
    reply: { status: 201, schema: AgentPool },
    problems: ["conflict", "quota-exceeded"],
  }),
  listAgentPools: defineEndpoint({
    method: "get",
    path: "/v1/agent-pools",
    tag: "agents",
    summary: "List pools of agents by name",
    access: "read",
    query: PageQuery,
    reply: { status: 200, schema: AgentPoolPage },
  }),
  getAgentPool: defineEndpoint({
    method: "get",
    path: "/v1/agent-pools/{name}",
    tag: "agents",
    summary: "Describe a pool of agents",
    access: "read",
    params: byName,
    reply: { status: 200, schema: AgentPool },
    problems: ["not-found"],
  }),
  readAgents: defineEndpoint({
    method: "get",
    path: "/v1/agent-pools/{name}/states",
    tag: "agents",
    summary: "Read the states of a pool: float32, agents × numbers, little-endian; takes a range",
    access: "read",
    params: byName,
    reply: { status: 200, mediaType: STATES, cached: "ranges" },
    problems: ["not-found"],
  }),
  writeAgents: defineEndpoint({
    method: "put",
    path: "/v1/agent-pools/{name}/states",
    tag: "agents",
    summary: "Replace the states of a pool; wants If-Match with its ETag",
    access: "submit",
    params: byName,
    headers: z.object({ "if-match": IfMatch }),
    rawBody: { mediaTypes: [STATES], maxBytes: LIMITS.poolBytes },
    reply: { status: 200, schema: AgentPool },
    problems: ["not-found", "precondition-failed", "precondition-required", "quota-exceeded"],
  }),
  deleteAgentPool: defineEndpoint({
    method: "delete",
    path: "/v1/agent-pools/{name}",
    tag: "agents",
    summary: "Delete a pool of agents with its states",
    access: "submit",
    params: byName,
    reply: { status: 204 },
    problems: ["not-found"],
  }),
};
