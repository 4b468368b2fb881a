import { defineEndpoint } from "../endpoint.ts";
import { ADMISSION_PROBLEMS, FRAME_MEDIA_TYPE, INFERENCE_PROBLEMS, InferReply, InferRequest } from "./inference.ts";
import { LIMITS } from "../wire/limits.ts";
import { Ticket, TicketRequest } from "./ticket.ts";

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
    reply: { status: 200, schema: InferReply, alsoAs: [FRAME_MEDIA_TYPE] },
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
} as const;
