import { z } from "zod";
import { defineEndpoint } from "../endpoint.ts";
import { LIMITS } from "../wire/limits.ts";
import { Instant, Name, pageOf, PageQuery } from "../wire/page.ts";
import { float32Numbers, TensorHeader } from "../wire/tensor.ts";
import { ComputeReply, computeWishes, JsonInputs } from "./compute.ts";
import { FRAME_MEDIA_TYPE } from "./inference.ts";

/**
 * Operations on holographic reduced representations.
 * Source: Plate, IEEE Trans. Neural Networks 1995.
 */
export const HrrOperation = z
  .enum(["bind", "unbind", "superpose", "similarity", "project"])
  .meta({ id: "HrrOperation" });
export type HrrOperation = z.infer<typeof HrrOperation>;

const HrrDimension = z.number().int().min(1).max(LIMITS.hrrDimension);
const Seed = z
  .number()
  .int()
  .min(0)
  .max(2 ** 32 - 1);

const operationFields = {
  ...computeWishes,
  dimension: HrrDimension.optional().meta({ description: "Of a projection: values of its results" }),
  seed: Seed.default(1).meta({ description: "Of a projection: its matrix" }),
};

/** Vectors for an operation by name: `a`, `b` of bind; `c`, `a` of unbind; `x`, `y` of similarity; `x` of the others. */
export const HrrRequest = z.strictObject({ ...operationFields, inputs: JsonInputs }).meta({ id: "HrrRequest" });
export type HrrRequest = z.infer<typeof HrrRequest>;

/** The same in the binary form. */
export const HrrFrameHeader = z.strictObject({
  ...operationFields,
  tensors: z.array(TensorHeader).min(1).max(LIMITS.tensorsPerRequest),
});

/** Symbols that become vectors of normal numbers of variance 1/d: the same symbol and seed, the same vector. */
const EncodeRequest = z
  .strictObject({
    ...computeWishes,
    symbols: z.array(z.string().min(1).max(256)).min(1).max(LIMITS.hrrSymbols),
    dimension: HrrDimension,
    seed: Seed.default(1),
  })
  .meta({ id: "EncodeRequest" });
type EncodeRequest = z.infer<typeof EncodeRequest>;

/** A memory of items as holographic vectors (Plate 1995). */
export const ItemMemorySpec = z
  .strictObject({
    name: Name,
    dimension: HrrDimension,
    seed: z
      .number()
      .int()
      .min(0)
      .max(2 ** 32 - 1)
      .default(1)
      .meta({ description: "Of the vectors of items that come without one" }),
  })
  .meta({ id: "ItemMemorySpec" });
export type ItemMemorySpec = z.infer<typeof ItemMemorySpec>;

export const ItemMemory = z
  .object({
    ...ItemMemorySpec.shape,
    items: z.number().int(),
    sizeBytes: z.number().int(),
    version: z.number().int(),
    createdAt: Instant,
    updatedAt: Instant,
  })
  .meta({ id: "ItemMemory" });
export type ItemMemory = z.infer<typeof ItemMemory>;
const ItemMemoryPage = pageOf(ItemMemory, "ItemMemory");

const Vector = float32Numbers(LIMITS.hrrDimension);

/** The database's text ends at U+0000, and has no half of a surrogate pair. */
const ItemKey = z
  .string()
  .min(1)
  .max(256)
  .refine((key) => !/[\0\p{Surrogate}]/u.test(key), "must be Unicode text without U+0000");

/** Items to be remembered. One without a vector gets that of its key. */
export const ItemsInput = z
  .strictObject({
    ...computeWishes,
    items: z
      .array(z.strictObject({ key: ItemKey, vector: Vector.optional() }))
      .min(1)
      .max(LIMITS.hrrSymbols),
  })
  .meta({ id: "ItemsInput" });
export type ItemsInput = z.infer<typeof ItemsInput>;

/** Vectors that items are looked for by. */
export const ItemSearch = z
  .strictObject({
    ...computeWishes,
    queries: z.array(Vector).min(1).max(LIMITS.hrrQueries),
    limit: z
      .number()
      .int()
      .min(1)
      .max(LIMITS.hrrMatches)
      .default(10)
      .meta({ description: `Matches of each query; of all at most ${LIMITS.hrrMatchesOfAll}` }),
  })
  .meta({ id: "ItemSearch" });
export type ItemSearch = z.infer<typeof ItemSearch>;

export const ItemMatches = z
  .object({
    memory: Name,
    version: z.number().int(),
    matches: z
      .array(z.array(z.object({ key: z.string(), similarity: z.number() })))
      .meta({ description: "For each query the items of the highest cosine, the first of equals first" }),
    totalMs: z.number(),
  })
  .meta({ id: "ItemMatches" });
export type ItemMatches = z.infer<typeof ItemMatches>;

const byName = z.object({ name: Name.meta({ description: "Name of a memory" }) });
/** Problems that a computation can meet. */
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
    problems: COMPUTE_PROBLEMS,
  }),
  computeHrr: defineEndpoint({
    method: "post",
    path: "/v1/hrr/{operation}",
    tag: "hrr",
    summary: "Bind, unbind, superpose, compare or project vectors, all rows in one dispatch",
    description: "The body is an HrrRequest as JSON, or a frame with the same header and the inputs behind it.",
    access: "infer",
    isFrequent: true,
    params: z.object({
      operation: HrrOperation.meta({ description: "See docs/methodology.md for what each computes" }),
    }),
    rawBody: { mediaTypes: ["application/json", FRAME_MEDIA_TYPE], maxBytes: LIMITS.inferBodyBytes },
    reply: { status: 200, schema: ComputeReply, alsoAs: [FRAME_MEDIA_TYPE] },
    problems: COMPUTE_PROBLEMS,
  }),
  createItemMemory: defineEndpoint({
    method: "post",
    path: "/v1/item-memories",
    tag: "hrr",
    summary: "Create a memory of items",
    access: "submit",
    body: ItemMemorySpec,
    reply: { status: 201, schema: ItemMemory },
    problems: ["conflict", "quota-exceeded"],
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
    problems: ["not-found", "conflict", ...COMPUTE_PROBLEMS, "quota-exceeded"],
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
