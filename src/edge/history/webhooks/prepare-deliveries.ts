import type { WebhookEvent } from "../../../protocol/webhook.ts";
import { insertDeliveries } from "../../store/delivery-store.ts";
import { toInstant } from "../../store/instant.ts";

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
