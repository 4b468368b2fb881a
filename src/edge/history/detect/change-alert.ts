import type { Alert, AlertAction, AlertState } from "../../../protocol/history/alert.ts";
import type { WebhookEvent } from "../../../protocol/service/webhook.ts";
import { ProblemError } from "../../../protocol/wire/problem.ts";
import { toInstant } from "../../clock.ts";
import type { ProjectEnv } from "../../config.ts";
import { saveAlertState } from "../../store/history/alert-store.ts";
import { prepareDeliveries } from "../webhooks/deliveries.ts";
import { changeState } from "./plan-alerts.ts";

const EVENTS = {
  open: "alert.opened",
  acknowledged: "alert.acknowledged",
  resolved: "alert.resolved",
  dismissed: "alert.dismissed",
  /** A muted alert sends nothing more. */
  muted: null,
} as const satisfies Record<AlertState, WebhookEvent | null>;

/**
 * Applies an action to an alert and prepares its webhooks. Null if the alert was changed meanwhile; throws `conflict`
 * if its state does not allow the action.
 */
export async function changeAlert(
  env: ProjectEnv,
  found: Alert,
  action: AlertAction,
  newNote: string | null | undefined,
): Promise<Alert | null> {
  const state = changeState(found, action);
  if (state === null) {
    const what = action === "mute" && found.kind === "change" ? "of changes" : found.state;
    const errors = [{ pointer: "path/action", message: `cannot be done: the alert is ${what}` }];
    throw new ProblemError("conflict", `The alert is ${found.state}.`, { errors });
  }
  const nowMs = Date.now();
  const note = newNote ?? found.note;
  const changed = { ...found, state, note, version: found.version + 1, updatedAt: toInstant(nowMs) };
  const type = EVENTS[state];
  const telling =
    type === null ? [] : [prepareDeliveries(env.DB, { project: env.project, type, alert: changed, atMs: nowMs })];
  return (await saveAlertState(env, { ...found, state, note }, nowMs, telling)) ? changed : null;
}
