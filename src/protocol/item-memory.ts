import { z } from "@hono/zod-openapi";
import { computeWishes } from "./compute.ts";
import { HrrDimension } from "./hrr.ts";
import { LIMITS } from "./limits.ts";
import { Instant, Name, pageOf } from "./page.ts";

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
      .openapi({ description: "Of the vectors of items that come without one" }),
  })
  .openapi("ItemMemorySpec");
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
  .openapi("ItemMemory");
export type ItemMemory = z.infer<typeof ItemMemory>;
export const ItemMemoryPage = pageOf(ItemMemory, "ItemMemory");

const Vector = z.array(z.number()).min(1).max(LIMITS.hrrDimension);

/** Items to be remembered. One without a vector gets that of its key. */
export const ItemsInput = z
  .strictObject({
    ...computeWishes,
    items: z
      .array(z.strictObject({ key: z.string().min(1).max(256), vector: Vector.optional() }))
      .min(1)
      .max(LIMITS.hrrSymbols),
  })
  .openapi("ItemsInput");
export type ItemsInput = z.infer<typeof ItemsInput>;

/** Vectors that items are looked for by. */
export const ItemSearch = z
  .strictObject({
    ...computeWishes,
    queries: z.array(Vector).min(1).max(LIMITS.hrrQueries),
    limit: z.number().int().min(1).max(LIMITS.hrrMatches).default(10),
  })
  .openapi("ItemSearch");
export type ItemSearch = z.infer<typeof ItemSearch>;

export const ItemMatches = z
  .object({
    memory: Name,
    version: z.number().int(),
    matches: z
      .array(z.array(z.object({ key: z.string(), similarity: z.number() })))
      .openapi({ description: "For each query the items of the highest cosine, the first of equals first" }),
    totalMs: z.number(),
  })
  .openapi("ItemMatches");
export type ItemMatches = z.infer<typeof ItemMatches>;
