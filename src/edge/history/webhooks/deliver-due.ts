import { LIMITS } from "../../../protocol/limits.ts";
import { configOf, type Env } from "../../config.ts";
import { openDatabase } from "../../store/database.ts";
import {
  claimDeliveries,
  type ClaimedDelivery,
  disableWebhook,
  noteArrival,
  noteFailure,
} from "../../store/delivery-store.ts";
import { retryDelayMs } from "./retry-delay.ts";
import { sendMessage } from "./send-message.ts";

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
