import { defineEndpoint, EVENT_STREAM } from "../endpoint.ts";
import { ServiceHealth } from "./service-state.ts";

export const serviceEndpoints = {
  getHealth: defineEndpoint({
    method: "get",
    path: "/v1/health",
    tag: "service",
    summary: "Whether the edge answers",
    access: "public",
    reply: { status: 200, schema: ServiceHealth },
  }),
  streamEvents: defineEndpoint({
    method: "get",
    path: "/v1/events",
    tag: "service",
    summary: "Changes of runners, jobs, history and alerts as they happen, as server-sent events",
    access: "read",
    asksQueue: true,
    reply: { status: 200, mediaType: EVENT_STREAM },
    problems: ["overloaded"],
  }),
  readMetrics: defineEndpoint({
    method: "get",
    path: "/metrics",
    tag: "service",
    summary: "Metrics of the service as Prometheus scrapes them",
    description: "Text of Prometheus' exposition format 0.0.4, or OpenMetrics 1.0.0 where `Accept` prefers that.",
    access: "read",
    isOperators: true,
    reply: { status: 200, mediaType: "text/plain", alsoAs: ["application/openmetrics-text"] },
  }),
} as const;
