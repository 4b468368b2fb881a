import { z } from "zod";
import { idSchema } from "../wire/id.ts";
import { LIMITS } from "../wire/limits.ts";
import { Instant, Name, pageOf } from "../wire/page.ts";

/** Scope of a key; `admin` includes the others. */
export const Scope = z.enum(["infer", "submit", "read", "admin"]).meta({ id: "Scope" });
export type Scope = z.infer<typeof Scope>;

export const KeyInput = z
  .strictObject({
    name: Name,
    scopes: z.array(Scope).min(1),
    project: Name.optional().meta({ description: "Another project than the key's own; the operator's to name" }),
    requestsPerSecond: z
      .number()
      .positive()
      .max(LIMITS.keyRequestsPerSecond)
      .optional()
      .meta({ description: "Its own limit instead of the usual one; above that only the operator's to give" }),
  })
  .meta({ id: "KeyInput" });
export type KeyInput = z.infer<typeof KeyInput>;

export const Key = z
  .object({
    id: idSchema("key"),
    name: Name,
    project: Name,
    scopes: z.array(Scope),
    createdAt: Instant,
    revokedAt: Instant.nullable(),
    requestsPerSecond: z.number().nullable().meta({ description: "Null: the usual limit" }),
    lastUsedAt: Instant.nullable().meta({ description: "To within ten minutes" }),
    oldSecretUntil: Instant.nullable().meta({ description: "Until when the secret before the last rotation works" }),
  })
  .meta({ id: "Key" });
export type Key = z.infer<typeof Key>;

/** The only reply that ever holds the secret. */
export const CreatedKey = Key.extend({ secret: z.string() }).meta({ id: "CreatedKey" });
/** Time for which the old secret goes on working after a rotation. */
export const KeyRotation = z
  .strictObject({ overlapMs: z.number().int().min(0).max(LIMITS.keyOverlapMs).default(86_400_000) })
  .meta({ id: "KeyRotation" });

export const KeyPage = pageOf(Key, "Key");

export const TokenInput = z
  .strictObject({ ttlMs: z.number().int().min(1).max(3_600_000).default(3_600_000) })
  .meta({ id: "RegistrationTokenInput" });

/** A one-time registration token; `token` is shown in this reply alone. */
export const RegistrationToken = z
  .object({ id: idSchema("token"), token: z.string(), expiresAt: Instant })
  .meta({ id: "RegistrationToken" });
export type RegistrationToken = z.infer<typeof RegistrationToken>;
