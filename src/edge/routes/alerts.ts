import type { Hono } from "hono";
import type { Alert, AlertState } from "../../protocol/alert.ts";
import { endpoints } from "../../protocol/endpoints.ts";
import { ProblemError } from "../../protocol/problem.ts";
import type { WebhookEvent } from "../../protocol/webhook.ts";
import { changeState } from "../history/detect/change-state.ts";
import { prepareDeliveries } from "../history/webhooks/prepare-deliveries.ts";
import { type AppEnv, bind } from "../http/bind.ts";
import { eTagOf, isMatch, staleMatch, withETag } from "../http/version-tag.ts";
import { findAlert, findAlertDetail, listAlerts, saveAlertState } from "../store/alert-store.ts";
import { toInstant } from "../store/instant.ts";
import { jobQueue } from "../stubs.ts";

const EVENTS = {
  open: "alert.opened",
  acknowledged: "alert.acknowledged",
  resolved: "alert.resolved",
  dismissed: "alert.dismissed",
  /** Who mutes wants to hear no more of it. */
  muted: null,
} as const satisfies Record<AlertState, WebhookEvent | null>;

export function bindAlerts(app: Hono<AppEnv>): void {
  bind(app, endpoints.listAlerts, ({ env, query }) => listAlerts(env, query));
  bind(app, endpoints.getAlert, async ({ env, params }) => {
    const alert = await findAlertDetail(env, params.id);
    if (alert === null) throw noAlert(params.id);
    return withETag(alert);
  });
  bind(app, endpoints.changeAlert, async ({ c, env, params, headers, body }) => {
    const found = await findAlert(env, params.id);
    if (found === null) throw noAlert(params.id);
    const wanted = headers["if-match"];
    if (wanted !== undefined && !isMatch(wanted, found)) throw staleAlert(found);
    const state = changeState(found, params.action);
    if (state === null) {
      const what = params.action === "mute" && found.kind === "change" ? "of changes" : found.state;
      const errors = [{ pointer: "path/action", message: `cannot be done: the alert is ${what}` }];
      throw new ProblemError("conflict", `The alert is ${found.state}.`, { errors });
    }
    const nowMs = Date.now();
    const note = body.note ?? found.note;
    const changed = { ...found, state, note, version: found.version + 1, updatedAt: toInstant(nowMs) };
    const type = EVENTS[state];
    const telling =
      type === null ? [] : [prepareDeliveries(env.DB, { project: env.project, type, alert: changed, atMs: nowMs })];
    const saved = await saveAlertState(env, { ...found, state, note }, nowMs, telling);
    if (!saved) throw staleAlert(found);
    c.executionCtx.waitUntil(jobQueue(env).announce({ type: "alert", id: found.id }, env.project));
    return withETag(changed);
  });
}

function noAlert(id: string): ProblemError {
  return new ProblemError("not-found", `There is no alert ${id}.`);
}

function staleAlert(alert: Alert): ProblemError {
  return staleMatch("alert", `is not the current ETag, or no longer: ${eTagOf(alert)}`);
}
