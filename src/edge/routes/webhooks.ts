import type { Hono } from "hono";
import { endpoints } from "../../protocol/endpoints.ts";
import { createId } from "../../protocol/id.ts";
import { LIMITS } from "../../protocol/limits.ts";
import { ProblemError } from "../../protocol/problem.ts";
import { sendMessage } from "../history/webhooks/send-message.ts";
import { createSigningSecret } from "../history/webhooks/sign-message.ts";
import { type AppEnv, bind } from "../http/bind.ts";
import { openProject } from "../store/database.ts";
import { listDeliveries } from "../store/delivery-store.ts";
import { toInstant } from "../store/instant.ts";
import { createWebhook, deleteWebhook, findReceiver, listWebhooks } from "../store/webhook-store.ts";

export function bindWebhooks(app: Hono<AppEnv>): void {
  bind(app, endpoints.createWebhook, async ({ env, body }) => {
    const secret = createSigningSecret();
    const webhook = await createWebhook(env, body, secret);
    if (webhook === null)
      throw new ProblemError("conflict", `There are ${LIMITS.webhooks} webhooks already: delete one first.`);
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
