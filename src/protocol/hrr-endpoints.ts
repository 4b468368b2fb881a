import { z } from "@hono/zod-openapi";
import { ComputeReply } from "./compute.ts";
import { defineEndpoint } from "./endpoint.ts";
import { EncodeRequest, HrrOperation } from "./hrr.ts";
import { FRAME_MEDIA_TYPE } from "./inference.ts";
import { ItemMatches, ItemMemory, ItemMemoryPage, ItemMemorySpec, ItemSearch, ItemsInput } from "./item-memory.ts";
import { LIMITS } from "./limits.ts";
import { Name, PageQuery } from "./page.ts";

const byName = z.object({ name: Name.openapi({ description: "Name of a memory" }) });
/** What may be in the way of a computation. */
const COMPUTE_PROBLEMS = [
  "no-placement",
  "runner-offline",
  "runner-lost",
  "overloaded",
  "budget-exceeded",
  "device-lost",
  "out-of-memory",
  "backend-failed",
  "kernel-invalid",
  "unknown-kernel",
  "payload-too-large",
] as const;

/** Holographic reduced representations, computed by the runners' kernels, and memories of items. */
export const hrrEndpoints = {
  encodeSymbols: defineEndpoint({
    method: "post",
    path: "/v1/hrr/encode",
    tag: "hrr",
    summary: "Turn symbols into vectors: the same symbol and seed, the same vector",
    access: "infer",
    isFrequent: true,
    body: EncodeRequest,
    reply: { status: 200, schema: ComputeReply },
    problems: [...COMPUTE_PROBLEMS],
  }),
  computeHrr: defineEndpoint({
    method: "post",
    path: "/v1/hrr/{operation}",
    tag: "hrr",
    summary: "Bind, unbind, superpose, compare or project vectors, all rows in one dispatch",
    description: "The body is an HrrRequest as JSON, or a frame with the same header and the inputs behind it.",
    access: "infer",
    isFrequent: true,
    params: z.object({ operation: HrrOperation }),
    rawBody: { mediaTypes: ["application/json", FRAME_MEDIA_TYPE], maxBytes: LIMITS.inferBodyBytes },
    reply: { status: 200, schema: ComputeReply },
    problems: [...COMPUTE_PROBLEMS, "invalid-request", "unsupported-media-type"],
  }),
  createItemMemory: defineEndpoint({
    method: "post",
    path: "/v1/item-memories",
    tag: "hrr",
    summary: "Create a memory of items",
    access: "submit",
    body: ItemMemorySpec,
    reply: { status: 201, schema: ItemMemory },
    problems: ["conflict"],
  }),
  listItemMemories: defineEndpoint({
    method: "get",
    path: "/v1/item-memories",
    tag: "hrr",
    summary: "List memories of items by name",
    access: "read",
    query: PageQuery,
    reply: { status: 200, schema: ItemMemoryPage },
  }),
  getItemMemory: defineEndpoint({
    method: "get",
    path: "/v1/item-memories/{name}",
    tag: "hrr",
    summary: "Describe a memory of items",
    access: "read",
    params: byName,
    reply: { status: 200, schema: ItemMemory },
    problems: ["not-found"],
  }),
  deleteItemMemory: defineEndpoint({
    method: "delete",
    path: "/v1/item-memories/{name}",
    tag: "hrr",
    summary: "Forget a memory with its items",
    access: "submit",
    params: byName,
    reply: { status: 204 },
    problems: ["not-found"],
  }),
  addItems: defineEndpoint({
    method: "post",
    path: "/v1/item-memories/{name}/items",
    tag: "hrr",
    summary: "Remember items, all of them or none; one without a vector gets that of its key",
    access: "submit",
    params: byName,
    body: ItemsInput,
    bodyBytes: LIMITS.inferBodyBytes,
    reply: { status: 200, schema: ItemMemory },
    problems: ["not-found", "conflict", ...COMPUTE_PROBLEMS],
  }),
  searchItems: defineEndpoint({
    method: "post",
    path: "/v1/item-memories/{name}/search",
    tag: "hrr",
    summary: "Find the items that are most similar to each query",
    access: "infer",
    isFrequent: true,
    params: byName,
    body: ItemSearch,
    bodyBytes: LIMITS.inferBodyBytes,
    reply: { status: 200, schema: ItemMatches },
    problems: ["not-found", ...COMPUTE_PROBLEMS],
  }),
};
