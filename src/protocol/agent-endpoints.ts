import { z } from "@hono/zod-openapi";
import { AgentPool, AgentPoolPage, AgentPoolSpec } from "./agent-pool.ts";
import { defineEndpoint } from "./endpoint.ts";
import { LIMITS } from "./limits.ts";
import { IfMatch, Name, PageQuery } from "./page.ts";

const byName = z.object({ name: Name.openapi({ description: "Name of a pool" }) });
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
    problems: ["conflict"],
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
    reply: { status: 200, mediaType: STATES },
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
    problems: ["not-found", "precondition-failed", "precondition-required", "payload-too-large"],
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
