import type { Hono } from "hono";
import { endpoints } from "../../protocol/endpoints.ts";
import type { Alert } from "../../protocol/history/alert.ts";
import type { Threshold } from "../../protocol/history/threshold.ts";
import { MAIN_PROJECT } from "../../protocol/service/project.ts";
import { createId } from "../../protocol/wire/id.ts";
import { LIMITS } from "../../protocol/wire/limits.ts";
import { invalidRequest } from "../../protocol/wire/parse-input.ts";
import { ProblemError } from "../../protocol/wire/problem.ts";
import { toInstant } from "../clock.ts";
import { jobQueue, type ProjectEnv } from "../config.ts";
import { changeAlert } from "../history/detect/change-alert.ts";
import { tryThreshold } from "../history/detect/inspect-series.ts";
import { readSeriesPoints } from "../history/detect/read-series-points.ts";
import { createSigningSecret, isOwnNetwork, sendMessage } from "../history/webhooks/send-message.ts";
import { type AppEnv, bind } from "../http/bind.ts";
import { eTagOf, isMatch, missingMatch, staleMatch, withETag } from "../http/version-tag.ts";
import { openProject } from "../store/database.ts";
import { findAlert, findAlertDetail, listAlerts } from "../store/history/alert-store.ts";
import { listDeliveries } from "../store/history/delivery-store.ts";
import { ALL_TIME } from "../store/history/rollup-store.ts";
import { findStoredSeries } from "../store/history/series-store.ts";
import {
  createThreshold,
  deleteThreshold,
  findThreshold,
  listThresholds,
  updateThreshold,
} from "../store/history/threshold-store.ts";
import { createWebhook, deleteWebhook, findReceiver, listWebhooks } from "../store/history/webhook-store.ts";
import { quotaExceeded } from "../store/quotas/quota-problem.ts";

export function bindThresholds(app: Hono<AppEnv>): void {
  bind(app, endpoints.createThreshold, async ({ env, body }) => {
    const threshold = await createThreshold(openProject(env), body);
    if (threshold === null) throw await quotaExceeded(env, { thresholds: 1 });
    return withETag(threshold, 201);
  });
  bind(app, endpoints.testThreshold, async ({ env, body }) => {
    const series = await findStoredSeries(openProject(env), body.series);
    if (series === null)
      throw new ProblemError("not-found", `There is no series ${body.series}.`, {
        errors: [{ pointer: "#/series", message: "is not a series" }],
      });
    const read = await readSeriesPoints(env.DB, series.no, ALL_TIME, LIMITS.historyPoints, Date.now());
    return { ...tryThreshold(read.points, body.threshold, series.direction), truncated: read.truncated };
  });
  bind(app, endpoints.listThresholds, ({ env, query }) => listThresholds(openProject(env), query));
  bind(app, endpoints.getThreshold, async ({ env, params }) => withETag(await mustFind(env, params.id), 200));
  bind(app, endpoints.updateThreshold, async ({ env, params, headers, body }) => {
    const found = await mustFind(env, params.id);
    const wanted = headers["if-match"];
    if (wanted === undefined) throw missingMatch("threshold");
    const updated = isMatch(wanted, found)
      ? await updateThreshold(openProject(env), found.id, found.version, body)
      : null;
    if (updated === null) throw staleMatch("threshold", `is not the current ETag ${eTagOf(found)}`);
    return withETag(updated, 200);
  });
  bind(app, endpoints.deleteThreshold, async ({ env, params }) => {
    if (!(await deleteThreshold(openProject(env), params.id))) throw noThreshold(params.id);
    return new Response(null, { status: 204 });
  });
}

async function mustFind(env: ProjectEnv, id: string): Promise<Threshold> {
  const threshold = await findThreshold(openProject(env), id);
  if (threshold === null) throw noThreshold(id);
  return threshold;
}

function noThreshold(id: string): ProblemError {
  return new ProblemError("not-found", `There is no threshold ${id}.`);
}

export function bindWebhooks(app: Hono<AppEnv>): void {
  bind(app, endpoints.createWebhook, async ({ env, body }) => {
    // Else a tenant's messages would reach what listens on the operator's machine alone.
    if (env.project !== MAIN_PROJECT && isOwnNetwork(body.url)) {
      throw invalidRequest([{ pointer: "#/url", message: "must lead out of the edge's own network" }]);
    }
    const secret = createSigningSecret();
    const webhook = await createWebhook(env, body, secret);
    if (webhook === null) throw await quotaExceeded(env, { webhooks: 1 });
    return { ...webhook, secret };
  });
  bind(app, endpoints.listWebhooks, ({ env, query }) => listWebhooks(openProject(env), query));
  bind(app, endpoints.deleteWebhook, async ({ env, params }) => {
    if (!(await deleteWebhook(env, params.id))) throw noWebhook(params.id);
    return new Response(null, { status: 204 });
  });
  bind(app, endpoints.pingWebhook, async ({ env, params }) => {
    const receiver = await findReceiver(openProject(env), params.id);
    if (receiver === null) throw noWebhook(params.id);
    const body = JSON.stringify({
      type: "webhook.ping",
      timestamp: toInstant(Date.now()),
      data: { webhookId: params.id },
    });
    const { kind, text } = await sendMessage(receiver, { id: createId("delivery"), body });
    return { delivered: kind === "arrived", outcome: text };
  });
  bind(app, endpoints.listDeliveries, async ({ env, params, query }) => {
    const db = openProject(env);
    const page = await listDeliveries(db, params.id, query);
    if (page.items.length === 0 && (await findReceiver(db, params.id)) === null) throw noWebhook(params.id);
    return page;
  });
}

function noWebhook(id: string): ProblemError {
  return new ProblemError("not-found", `There is no webhook ${id}.`);
}

export function bindAlerts(app: Hono<AppEnv>): void {
  bind(app, endpoints.listAlerts, ({ env, query }) => listAlerts(env, query));
  bind(app, endpoints.getAlert, async ({ env, params }) => {
    const alert = await findAlertDetail(env, params.id);
    if (alert === null) throw noAlert(params.id);
    return withETag(alert);
  });
  bind(app, endpoints.changeAlert, async ({ env, params, headers, body, waitUntil }) => {
    const found = await findAlert(env, params.id);
    if (found === null) throw noAlert(params.id);
    const wanted = headers["if-match"];
    if (wanted !== undefined && !isMatch(wanted, found)) throw staleAlert(found);
    const changed = await changeAlert(env, found, params.action, body.note);
    if (changed === null) throw staleAlert(found);
    waitUntil(jobQueue(env).announce({ type: "alert", id: found.id }, env.project));
    return withETag(changed);
  });
}

function noAlert(id: string): ProblemError {
  return new ProblemError("not-found", `There is no alert ${id}.`);
}

function staleAlert(alert: Alert): ProblemError {
  return staleMatch("alert", `is not the current ETag, or no longer: ${eTagOf(alert)}`);
}
