import { and, desc, eq, inArray, sql } from "drizzle-orm";
import { createId } from "../../../protocol/wire/id.ts";
import type { PageQuery } from "../../../protocol/wire/page.ts";
import type { Delivery } from "../../../protocol/service/webhook.ts";
import { behindCursor, cutPage } from "../cursor.ts";
import type { Database, ProjectDatabase } from "../database.ts";
import { toInstant, toInstantOrNull } from "../../clock.ts";
import { webhookDeliveries as deliveries, webhooks } from "../schema.ts";

/** Retention of deliveries. */
const KEPT_MS = 30 * 86_400_000;
const PRUNED_ROWS = 10_000;
/** Length of an id's kind and time, which sort it. */
const ID_TIME_LENGTH = "dlv_".length + 10;

type Row = typeof deliveries.$inferSelect;

function toDelivery(row: Row): Delivery {
  const body: { type: Delivery["event"] } = JSON.parse(row.body);
  const waits = row.nextAtMs === null ? "given-up" : "pending";
  return {
    id: row.id,
    event: body.type,
    alertId: row.alertId,
    state: row.deliveredAtMs === null ? waits : "delivered",
    attempts: row.attempts,
    lastOutcome: row.lastOutcome,
    createdAt: toInstant(row.createdAtMs),
    deliveredAt: toInstantOrNull(row.deliveredAtMs),
    nextAttemptAt: toInstantOrNull(row.nextAtMs),
  };
}

/** Deliveries of a webhook, newest first. Throws `invalid-request` for a cursor of another list. */
export async function listDeliveries(
  db: ProjectDatabase,
  webhookId: string,
  page: PageQuery,
): Promise<{ items: Delivery[]; nextCursor: string | null }> {
  const after = behindCursor(page.cursor, deliveries.createdAtMs, deliveries.id);
  const own = db.select({ id: webhooks.id }).from(webhooks).where(eq(webhooks.project, db.project));
  const found = await db
    .select()
    .from(deliveries)
    .where(and(eq(deliveries.webhookId, webhookId), inArray(deliveries.webhookId, own), after))
    .orderBy(desc(deliveries.createdAtMs), desc(deliveries.id))
    .limit(page.limit + 1);
  const { rows, nextCursor } = cutPage(found, page.limit, (row) => [row.createdAtMs, row.id]);
  return { items: rows.map(toDelivery), nextCursor };
}

/** Fields by which webhooks are selected. */
export interface DeliveryEvent {
  readonly project: string;
  readonly event: string;
  readonly alertId: string;
  readonly direction: string;
}

/** Creates a delivery, due at once, for each webhook of the project, unless it is closed, subscribed to the event. */
export function insertDeliveries(
  binding: D1Database,
  event: DeliveryEvent,
  body: string,
  nowMs: number,
): D1PreparedStatement {
  return binding
    .prepare(
      `insert into webhook_deliveries (id, webhook_id, alert_id, body, next_at_ms, created_at_ms)
       select ?1 || lower(hex(randomblob(8))), id, ?2, ?3, ?4, ?4 from webhooks
       where project = ?7 and not exists (select 1 from projects where name = ?7 and closed_at_ms is not null)
       and disabled_at_ms is null and coalesce(spec ->> '$.direction', ?5) = ?5
       and exists (select 1 from json_each(spec, '$.events') where value = ?6)`,
    )
    .bind(
      createId("delivery", nowMs).slice(0, ID_TIME_LENGTH),
      event.alertId,
      body,
      nowMs,
      event.direction,
      event.event,
      event.project,
    );
}

/** A delivery that the caller has claimed, and its receiver. */
export interface ClaimedDelivery {
  readonly id: string;
  readonly webhookId: string;
  readonly body: string;
  /** Including this one. */
  readonly attempts: number;
  readonly url: string;
  readonly secret: string;
}

/**
 * Claims up to `limit` due deliveries, one webhook after the other in turn. No other caller gets them until `leaseMs`
 * have passed; after that the claimer counts as lost.
 */
export async function claimDeliveries(
  binding: D1Database,
  { nowMs, leaseMs, limit }: { readonly nowMs: number; readonly leaseMs: number; readonly limit: number },
): Promise<ClaimedDelivery[]> {
  const { results } = await binding
    .prepare(
      `update webhook_deliveries set attempts = attempts + 1, next_at_ms = ?2 where id in (
         select id from webhook_deliveries where next_at_ms <= ?1
         order by row_number() over (partition by webhook_id order by next_at_ms, id), next_at_ms limit ?3
       ) returning id, webhook_id as webhookId, body, attempts,
         (select url from webhooks where webhooks.id = webhook_id) as url,
         (select secret from webhooks where webhooks.id = webhook_id) as secret`,
    )
    .bind(nowMs, nowMs + leaseMs, limit)
    .all<ClaimedDelivery>();
  return results;
}

/** Records the arrival of a message. */
export async function noteArrival(db: Database, id: string, outcome: string, nowMs: number): Promise<void> {
  await db
    .update(deliveries)
    .set({ deliveredAtMs: nowMs, nextAtMs: null, lastOutcome: outcome })
    .where(eq(deliveries.id, id));
}

/**
 * Records a failed attempt, and the time of the next one; null gives the delivery up, as does a webhook that was disabled
 * meanwhile. A later attempt's record stays.
 */
export async function noteFailure(
  db: Database,
  { id, attempts }: ClaimedDelivery,
  outcome: string,
  nextAtMs: number | null,
): Promise<void> {
  const isDisabled = sql`exists (select 1 from webhooks where id = webhook_id and disabled_at_ms is not null)`;
  await db
    .update(deliveries)
    .set({ nextAtMs: sql`iif(${isDisabled}, null, ${nextAtMs})`, lastOutcome: outcome })
    .where(and(eq(deliveries.id, id), eq(deliveries.attempts, attempts)));
}

/** Disables the webhook of a delivery whose receiver is gone for good, and gives up all its pending deliveries. */
export async function disableWebhook(
  binding: D1Database,
  { id, webhookId }: ClaimedDelivery,
  outcome: string,
  nowMs: number,
): Promise<void> {
  await binding.batch([
    binding.prepare("update webhook_deliveries set last_outcome = ?2 where id = ?1").bind(id, outcome),
    binding
      .prepare("update webhooks set disabled_at_ms = coalesce(disabled_at_ms, ?2) where id = ?1")
      .bind(webhookId, nowMs),
    binding
      .prepare("update webhook_deliveries set next_at_ms = null where webhook_id = ?1 and next_at_ms is not null")
      .bind(webhookId),
  ]);
}

/** Deletes deliveries that are older than 30 days, some thousands at a time. */
export async function pruneDeliveries(binding: D1Database, nowMs: number): Promise<void> {
  const before = createId("delivery", nowMs - KEPT_MS).slice(0, ID_TIME_LENGTH);
  await binding
    .prepare(
      `delete from webhook_deliveries where id in (select id from webhook_deliveries where id < ?1 order by id limit ?2)`,
    )
    .bind(before, PRUNED_ROWS)
    .run();
}
