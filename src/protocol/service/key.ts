import { z } from "@hono/zod-openapi";
import { idSchema } from "../wire/id.ts";
import { LIMITS } from "../wire/limits.ts";
import { Instant, Name, pageOf } from "../wire/page.ts";

/** What a key may do; `admin` includes the others. */
export const Scope = z.enum(["infer", "submit", "read", "admin"]).openapi("Scope");
export type Scope = z.infer<typeof Scope>;

export const KeyInput = z
  .strictObject({
    name: Name,
    scopes: z.array(Scope).min(1),
    project: Name.optional().openapi({ description: "Another project than the key's own; the operator's to name" }),
    requestsPerSecond: z
      .number()
      .positive()
      .max(LIMITS.keyRequestsPerSecond)
      .optional()
      .openapi({ description: "Its own limit instead of the usual one; above that only the operator's to give" }),
  })
  .openapi("KeyInput");
export type KeyInput = z.infer<typeof KeyInput>;

export const Key = z
  .object({
    id: idSchema("key"),
    name: Name,
    project: Name,
    scopes: z.array(Scope),
    createdAt: Instant,
    revokedAt: Instant.nullable(),
    requestsPerSecond: z.number().nullable().openapi({ description: "Null: the usual limit" }),
    lastUsedAt: Instant.nullable().openapi({ description: "To within ten minutes" }),
    oldSecretUntil: Instant.nullable().openapi({ description: "Until when the secret before the last rotation works" }),
  })
  .openapi("Key");
export type Key = z.infer<typeof Key>;

/** The only reply that ever holds the secret. */
export const CreatedKey = Key.extend({ secret: z.string() }).openapi("CreatedKey");
/** How long the old secret goes on working, for whoever has it to change over. */
export const KeyRotation = z
  .strictObject({ overlapMs: z.number().int().min(0).max(LIMITS.keyOverlapMs).default(86_400_000) })
  .openapi("KeyRotation");

export const KeyPage = pageOf(Key, "Key");

export const TokenInput = z
  .strictObject({ ttlMs: z.number().int().min(1).max(3_600_000).default(3_600_000) })
  .openapi("RegistrationTokenInput");

/** A one-time registration token; `token` is shown in this reply alone. */
export const RegistrationToken = z
  .object({ id: idSchema("token"), token: z.string(), expiresAt: Instant })
  .openapi("RegistrationToken");
export type RegistrationToken = z.infer<typeof RegistrationToken>;
