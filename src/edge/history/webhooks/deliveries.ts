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
 * Delay from a failed attempt to the next one: `firstMs`, doubled with every further failure, less up to half at
 * random, so that recovered receivers do not get everything at once. Null after the last attempt: from a minute on,
 * twelve attempts take about a day.
 */
function retryDelayMs(attempts: number, firstMs: number, random: () => number = Math.random): number | null {
  if (attempts >= LIMITS.webhookAttempts) return null;
  return Math.round(firstMs * 2 ** (attempts - 1) * (1 - random() / 2));
}

/** Concurrent requests: a Worker may have six. */
const LANES = 6;
const CLAIMED = 24;
/** Most rounds of one call: a Worker's requests and statements are limited. */
const ROUNDS = 8;
/** Three times the duration of a round in which no receiver answers. */
const LEASE_MS = (3 * LIMITS.webhookTimeoutMs * CLAIMED) / LANES;

/**
 * Sends the deliveries that are due. Concurrent callers share them. A caller that stops midway loses no message, but
 * repeats an unrecorded attempt, under the same `webhook-id`.
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

/** Event of an alert, for subscribed webhooks. */
export interface AlertEvent {
  /** Project of the alert. */
  readonly project: string;
  readonly type: WebhookEvent;
  /** Sent unchanged. */
  readonly alert: { readonly id: string; readonly direction: string };
  readonly atMs: number;
}

/**
 * Statement that creates a delivery for each of the project's webhooks subscribed to this event, in the event's
 * transaction: neither lost nor sent twice. The body is fixed here, in the form of Standard Webhooks.
 */
export function prepareDeliveries(
  binding: D1Database,
  { project, type, alert, atMs }: AlertEvent,
): D1PreparedStatement {
  const body = JSON.stringify({ type, timestamp: toInstant(atMs), data: alert });
  const event = { project, event: type, alertId: alert.id, direction: alert.direction };
  return insertDeliveries(binding, event, body, atMs);
}
