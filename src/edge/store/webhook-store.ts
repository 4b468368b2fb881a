import { desc, eq, lt } from "drizzle-orm";
import { createId } from "../../protocol/id.ts";
import { LIMITS } from "../../protocol/limits.ts";
import type { PageQuery } from "../../protocol/page.ts";
import type { Webhook, WebhookInput } from "../../protocol/webhook.ts";
import { cutPage, decodeCursor } from "./cursor.ts";
import { type Database, openDatabase } from "./database.ts";
import { toInstant, toInstantOrNull } from "./instant.ts";
import { webhookDeliveries, webhooks } from "./schema.ts";

type Row = typeof webhooks.$inferSelect;

function toWebhook({ id, url, spec, createdAtMs, disabledAtMs }: Row): Webhook {
  const wanted: Omit<WebhookInput, "url"> = JSON.parse(spec);
  return { id, url, ...wanted, createdAt: toInstant(createdAtMs), disabledAt: toInstantOrNull(disabledAtMs) };
}

/** Stores a webhook; null where there are as many as there may be. */
export async function createWebhook(
  binding: D1Database,
  { url, ...spec }: WebhookInput,
  secret: string,
): Promise<Webhook | null> {
  const row: Row = {
    id: createId("webhook"),
    url,
    secret,
    spec: JSON.stringify({ ...spec, events: [...new Set(spec.events)] }),
    createdAtMs: Date.now(),
    disabledAtMs: null,
  };
  const { meta } = await binding
    .prepare(
      `insert into webhooks (id, url, secret, spec, created_at_ms) select ?1, ?2, ?3, ?4, ?5
       where (select count(*) from webhooks) < ?6`,
    )
    .bind(row.id, url, secret, row.spec, row.createdAtMs, LIMITS.webhooks)
    .run();
  return meta.changes === 0 ? null : toWebhook(row);
}

export async function listWebhooks(
  db: Database,
  page: PageQuery,
): Promise<{ items: Webhook[]; nextCursor: string | null }> {
  const after = page.cursor === undefined ? undefined : lt(webhooks.id, String(decodeCursor(page.cursor, 1)[0]));
  const found = await db
    .select()
    .from(webhooks)
    .where(after)
    .orderBy(desc(webhooks.id))
    .limit(page.limit + 1);
  const { rows, nextCursor } = cutPage(found, page.limit, (row) => [row.id]);
  return { items: rows.map(toWebhook), nextCursor };
}

/** Where a message goes, and what signs it; null where there is no such webhook. */
export async function findReceiver(db: Database, id: string): Promise<{ url: string; secret: string } | null> {
  const [row] = await db
    .select({ url: webhooks.url, secret: webhooks.secret })
    .from(webhooks)
    .where(eq(webhooks.id, id));
  return row ?? null;
}

/** Deletes a webhook with its deliveries; false where there is none of that id. */
export async function deleteWebhook(binding: D1Database, id: string): Promise<boolean> {
  const db = openDatabase(binding);
  const [, removed] = await db.batch([
    db.delete(webhookDeliveries).where(eq(webhookDeliveries.webhookId, id)),
    db.delete(webhooks).where(eq(webhooks.id, id)),
  ]);
  return removed.meta.changes === 1;
}
