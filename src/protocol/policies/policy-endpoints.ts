import { z } from "zod";
import { defineEndpoint } from "../endpoint.ts";
import { INFERENCE_PROBLEMS } from "../inference/inference.ts";
import { LIMITS } from "../wire/limits.ts";
import { ActReply, ActRequest, ActStreamQuery } from "./policy.ts";

const byPolicy = z.object({
  id: z
    .string()
    .min(1)
    .max(128)
    .meta({ description: "Name or id of a model that is a policy; `name@2` names a version" }),
});

export const policyEndpoints = {
  actPolicy: defineEndpoint({
    method: "post",
    path: "/v1/policies/{id}/act",
    tag: "inference",
    summary: "Ask a policy for its action within a budget",
    description: "A policy is a model with one float32 input and a float32 output, both with a free first dimension.",
    access: "infer",
    params: byPolicy,
    body: ActRequest,
    bodyBytes: LIMITS.inferBodyBytes,
    reply: { status: 200, schema: ActReply },
    problems: [...INFERENCE_PROBLEMS, "invalid-model"],
  }),
  streamPolicy: defineEndpoint({
    method: "get",
    path: "/v1/policies/{id}/stream",
    tag: "inference",
    summary: "Open a WebSocket that takes observations and gives actions (see docs/protocol.md)",
    access: "infer",
    params: byPolicy,
    query: ActStreamQuery,
    reply: { status: 101 },
    problems: ["not-found", "invalid-model"],
  }),
} as const;
