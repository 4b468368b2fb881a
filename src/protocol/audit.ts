import { z } from "@hono/zod-openapi";
import { idSchema } from "./id.ts";
import { Instant, PageQuery, pageOf } from "./page.ts";

/** One request of an administrator that was not only reading. */
export const AuditEntry = z
  .object({
    id: idSchema("auditEntry"),
    key: z.string().nullable().openapi({ description: "Id of the key, or `bootstrap`" }),
    action: z.string().openapi({ description: "Method and path as the table of endpoints has them" }),
    path: z.string(),
    status: z.number().int().openapi({ description: "HTTP status of the answer" }),
    at: Instant,
  })
  .openapi("AuditEntry");
export type AuditEntry = z.infer<typeof AuditEntry>;

export const AuditQuery = PageQuery.extend({
  key: z.string().max(64).optional().openapi({ description: "Only what this key did, by its id or `bootstrap`" }),
});
export type AuditQuery = z.infer<typeof AuditQuery>;

export const AuditPage = pageOf(AuditEntry, "Audit");
