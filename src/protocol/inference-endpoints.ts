import { z } from "zod";
import { defineEndpoint } from "./endpoint.ts";
import {
  ADMISSION_PROBLEMS,
  FRAME_MEDIA_TYPE,
  INFERENCE_PROBLEMS,
  InferReply,
  InferRequest,
} from "./inference/inference.ts";
import { LIMITS } from "./wire/limits.ts";
import { ActReply, ActRequest, ActStreamQuery } from "./policies/policy.ts";
import { Ticket, TicketRequest } from "./inference/ticket.ts";

const byPolicy = z.object({
  id: z
    .string()
    .min(1)
    .max(128)
    .meta({ description: "Name or id of a model that is a policy; `name@2` names a version" }),
});

export const inferenceEndpoints = {
  infer: defineEndpoint({
    method: "post",
    path: "/v1/infer",
    tag: "inference",
    summary: "Run a model within a budget, or be refused at once",
    description: `JSON, or \`${FRAME_MEDIA_TYPE}\`: a frame with raw little-endian tensors, answered in kind.`,
    access: "infer",
    body: InferRequest,
    rawBody: { mediaTypes: ["application/json", FRAME_MEDIA_TYPE], maxBytes: LIMITS.inferBodyBytes },
    reply: { status: 200, schema: InferReply },
    problems: INFERENCE_PROBLEMS,
  }),
  createTicket: defineEndpoint({
    method: "post",
    path: "/v1/tickets",
    tag: "inference",
    summary: "Get a ticket for asking a runner itself, without the hop over the edge",
    description: `Short-lived and good for many requests: \`POST\` frames (\`${FRAME_MEDIA_TYPE}\`) to its \`url\`.`,
    access: "infer",
    body: TicketRequest,
    reply: { status: 201, schema: Ticket },
    problems: [...ADMISSION_PROBLEMS, "no-listener"],
  }),
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
