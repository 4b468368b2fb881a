import { z } from "zod";
import { defineEndpoint } from "../endpoint.ts";
import { idSchema } from "../wire/id.ts";
import { Instant, pageOf, PageQuery } from "../wire/page.ts";
import { CreatedKey, Key, KeyInput, KeyPage, KeyRotation } from "./key.ts";

/** One request of an administrator that was not only reading. */
export const AuditEntry = z
  .object({
    id: idSchema("auditEntry"),
    key: z.string().nullable().meta({ description: "Id of the key, or `bootstrap`" }),
    action: z.string().meta({ description: "Method and path as the table of endpoints has them" }),
    path: z.string(),
    status: z.number().int().meta({ description: "HTTP status of the answer" }),
    at: Instant,
  })
  .meta({ id: "AuditEntry" });
export type AuditEntry = z.infer<typeof AuditEntry>;

export const AuditQuery = PageQuery.extend({
  key: z.string().max(64).optional().meta({ description: "Only what this key did, by its id or `bootstrap`" }),
});
export type AuditQuery = z.infer<typeof AuditQuery>;

const AuditPage = pageOf(AuditEntry, "Audit");

const byKeyId = z.object({ id: idSchema("key") });

/** Routes of an administrator: keys, their scopes, and the audit log. */
export const keyEndpoints = {
  createKey: defineEndpoint({
    method: "post",
    path: "/v1/keys",
    tag: "keys",
    summary: "Create an API key; its secret is shown once",
    access: "admin",
    body: KeyInput,
    reply: { status: 201, schema: CreatedKey },
    problems: ["forbidden", "not-found", "quota-exceeded"],
  }),
  listKeys: defineEndpoint({
    method: "get",
    path: "/v1/keys",
    tag: "keys",
    summary: "List API keys, newest first",
    access: "admin",
    query: PageQuery,
    reply: { status: 200, schema: KeyPage },
  }),
  revokeKey: defineEndpoint({
    method: "delete",
    path: "/v1/keys/{id}",
    tag: "keys",
    summary: "Revoke an API key; it stops working within 30 seconds everywhere",
    access: "admin",
    params: byKeyId,
    reply: { status: 200, schema: Key },
    problems: ["not-found"],
  }),
  rotateKey: defineEndpoint({
    method: "post",
    path: "/v1/keys/{id}/rotate",
    tag: "keys",
    summary: "Give a key a new secret; the old one goes on working for a while, that of an earlier rotation does not",
    access: "admin",
    params: byKeyId,
    body: KeyRotation,
    reply: { status: 200, schema: CreatedKey },
    problems: ["not-found", "conflict"],
  }),
  listAuditEntries: defineEndpoint({
    method: "get",
    path: "/v1/audit",
    tag: "keys",
    summary: "What administrators of the project did, newest first",
    access: "admin",
    query: AuditQuery,
    reply: { status: 200, schema: AuditPage },
  }),
};
