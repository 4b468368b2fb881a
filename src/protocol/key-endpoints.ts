import { z } from "@hono/zod-openapi";
import { AuditPage, AuditQuery } from "./audit.ts";
import { defineEndpoint } from "./endpoint.ts";
import { idSchema } from "./id.ts";
import { CreatedKey, Key, KeyInput, KeyPage, KeyRotation } from "./key.ts";
import { PageQuery } from "./page.ts";

const byKeyId = z.object({ id: idSchema("key") });

/** Routes of an administrator: who may do what, and who did. */
export const keyEndpoints = {
  createKey: defineEndpoint({
    method: "post",
    path: "/v1/keys",
    tag: "keys",
    summary: "Create an API key; its secret is shown once",
    access: "admin",
    body: KeyInput,
    reply: { status: 201, schema: CreatedKey },
    problems: ["forbidden", "not-found"],
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
