import type { WebhookEvent } from "../../../protocol/service/webhook.ts";
import { LIMITS } from "../../../protocol/wire/limits.ts";
import { toInstant } from "../../clock.ts";
import { configOf, type Env } from "../../config.ts";
import { openDatabase } from "../../store/database.ts";
import {
  claimDeliveries,
  type ClaimedDelivery,
  disableWebhook,
  insertDeliveries,
  noteArrival,
  noteFailure,
} from "../../store/history/delivery-store.ts";
import { sendMessage } from "./send-message.ts";

/**
 * Milliseconds from a failed attempt to the next one: `firstMs`, doubled with every further failure, less up to a
 * half at random, so that receivers that came back are not met by everything at once. Null behind the last attempt:
 * from a minute on, twelve attempts take about a day.
 */
function retryDelayMs(attempts: number, firstMs: number, random: () => number = Math.random): number | null {
  if (attempts >= LIMITS.webhookAttempts) return null;
  return Math.round(firstMs * 2 ** (attempts - 1) * (1 - random() / 2));
}

/** Requests that wait for an answer at once: a Worker may have six. */
const LANES = 6;
const CLAIMED = 24;
/** What one call sends at most: a Worker's requests and statements are counted. */
const ROUNDS = 8;
/** Three times what a round takes whose every receiver is silent. */
const LEASE_MS = (3 * LIMITS.webhookTimeoutMs * CLAIMED) / LANES;

/**
 * Sends the deliveries that are due. Several callers at once share them; one that ends in the middle loses no
 * message, but an attempt that nobody noted is made again, under the same `webhook-id`.
 */
export async function deliverDue(env: Env, nowMs: number): Promise<void> {
  for (let round = 0; round < ROUNDS; round++) {
    const claimed = await claimDeliveries(env.DB, { nowMs, leaseMs: LEASE_MS, limit: CLAIMED });
    const waiting = claimed.values();
    await Promise.all(
      Array.from({ length: LANES }, async () => {
        for (const delivery of waiting) await deliver(env, delivery, nowMs);
      }),
    );
    if (claimed.length < CLAIMED) return;
  }
}

async function deliver(env: Env, delivery: ClaimedDelivery, nowMs: number): Promise<void> {
  const { kind, text } = await sendMessage(delivery, delivery);
  const db = openDatabase(env.DB);
  switch (kind) {
    case "arrived":
      return noteArrival(db, delivery.id, text, nowMs);
    case "gone":
      return disableWebhook(env.DB, delivery, text, nowMs);
    case "failed": {
      const delayMs = retryDelayMs(delivery.attempts, configOf(env).webhookRetryMs);
      return noteFailure(db, delivery, text, delayMs === null ? null : nowMs + delayMs);
    }
  }
}

/** What became of an alert, for those who want to be told. */
export interface AlertEvent {
  /** Whose alert it is. */
  readonly project: string;
  readonly type: WebhookEvent;
  /** Sent as it stands. */
  readonly alert: { readonly id: string; readonly direction: string };
  readonly atMs: number;
}

/**
 * The statement that makes a delivery for each webhook of the project that wants this event: in one transaction with what
 * happened, it is neither lost nor told twice. The body is frozen here; its form is Standard Webhooks'.
 */
export function prepareDeliveries(
  binding: D1Database,
  { project, type, alert, atMs }: AlertEvent,
): D1PreparedStatement {
  const body = JSON.stringify({ type, timestamp: toInstant(atMs), data: alert });
  const told = { project, event: type, alertId: alert.id, direction: alert.direction };
  return insertDeliveries(binding, told, body, atMs);
}
