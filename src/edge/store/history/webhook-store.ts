import { and, desc, eq, inArray, lt, type SQL } from "drizzle-orm";
import { createId } from "../../../protocol/wire/id.ts";
import type { PageQuery } from "../../../protocol/wire/page.ts";
import type { Webhook, WebhookInput } from "../../../protocol/service/webhook.ts";
import { cutPage, decodeCursor } from "../cursor.ts";
import { openProject, type ProjectDatabase, type ProjectStorage } from "../database.ts";
import { toInstant, toInstantOrNull } from "../../clock.ts";
import { hasRoom } from "../quotas/quota-store.ts";
import { webhookDeliveries, webhooks } from "../schema.ts";

type Row = typeof webhooks.$inferSelect;

function toWebhook({ id, url, spec, createdAtMs, disabledAtMs }: Row): Webhook {
  const wanted: Omit<WebhookInput, "url"> = JSON.parse(spec);
  return { id, url, ...wanted, createdAt: toInstant(createdAtMs), disabledAt: toInstantOrNull(disabledAtMs) };
}

function isOwn({ project }: ProjectDatabase, id: string): SQL {
  return and(eq(webhooks.project, project), eq(webhooks.id, id))!;
}

/** Stores a webhook; null where the project's quota is used up. */
export async function createWebhook(
  { DB, project }: ProjectStorage,
  { url, ...spec }: WebhookInput,
  secret: string,
): Promise<Webhook | null> {
  const row: Row = {
    id: createId("webhook"),
    project,
    url,
    secret,
    spec: JSON.stringify({ ...spec, events: [...new Set(spec.events)] }),
    createdAtMs: Date.now(),
    disabledAtMs: null,
  };
  const { meta } = await DB.prepare(
    `insert into webhooks (id, project, url, secret, spec, created_at_ms) select ?1, ?2, ?3, ?4, ?5, ?6
       where ${hasRoom("webhooks", "?2")}`,
  )
    .bind(row.id, project, url, secret, row.spec, row.createdAtMs)
    .run();
  return meta.changes === 0 ? null : toWebhook(row);
}

export async function listWebhooks(
  db: ProjectDatabase,
  page: PageQuery,
): Promise<{ items: Webhook[]; nextCursor: string | null }> {
  const after = page.cursor === undefined ? undefined : lt(webhooks.id, String(decodeCursor(page.cursor, 1)[0]));
  const found = await db
    .select()
    .from(webhooks)
    .where(and(eq(webhooks.project, db.project), after))
    .orderBy(desc(webhooks.id))
    .limit(page.limit + 1);
  const { rows, nextCursor } = cutPage(found, page.limit, (row) => [row.id]);
  return { items: rows.map(toWebhook), nextCursor };
}

/** Address of a webhook, and the secret for its signatures; null where there is no such webhook. */
export async function findReceiver(db: ProjectDatabase, id: string): Promise<{ url: string; secret: string } | null> {
  const [row] = await db.select({ url: webhooks.url, secret: webhooks.secret }).from(webhooks).where(isOwn(db, id));
  return row ?? null;
}

/** Deletes a webhook with its deliveries; false where there is none of that id. */
export async function deleteWebhook(env: ProjectStorage, id: string): Promise<boolean> {
  const db = openProject(env);
  const own = db.select({ id: webhooks.id }).from(webhooks).where(isOwn(db, id));
  const [, removed] = await db.batch([
    db.delete(webhookDeliveries).where(inArray(webhookDeliveries.webhookId, own)),
    db.delete(webhooks).where(isOwn(db, id)),
  ]);
  return removed.meta.changes === 1;
}
