import { z } from "zod";
import { defineEndpoint } from "../endpoint.ts";
import { idSchema } from "../wire/id.ts";
import { PageQuery } from "../wire/page.ts";
import { CreatedWebhook, DeliveryPage, WebhookInput, WebhookPage, WebhookPing } from "./webhook.ts";

const byWebhookId = z.object({ id: idSchema("webhook") });

/** Routes of the receivers of alerts. */
export const webhookEndpoints = {
  createWebhook: defineEndpoint({
    method: "post",
    path: "/v1/webhooks",
    tag: "alerts",
    summary: "Have alerts sent to a URL; the secret that signs them is shown once",
    access: "admin",
    body: WebhookInput,
    reply: { status: 201, schema: CreatedWebhook },
    problems: ["quota-exceeded"],
  }),
  listWebhooks: defineEndpoint({
    method: "get",
    path: "/v1/webhooks",
    tag: "alerts",
    summary: "List webhooks, newest first",
    access: "admin",
    query: PageQuery,
    reply: { status: 200, schema: WebhookPage },
  }),
  deleteWebhook: defineEndpoint({
    method: "delete",
    path: "/v1/webhooks/{id}",
    tag: "alerts",
    summary: "Delete a webhook with all its deliveries; what waits is not sent",
    access: "admin",
    params: byWebhookId,
    reply: { status: 204 },
    problems: ["not-found"],
  }),
  pingWebhook: defineEndpoint({
    method: "post",
    path: "/v1/webhooks/{id}/ping",
    tag: "alerts",
    summary: "Send a test message now, once, and tell what came of it",
    access: "admin",
    params: byWebhookId,
    reply: { status: 200, schema: WebhookPing },
    problems: ["not-found"],
  }),
  listDeliveries: defineEndpoint({
    method: "get",
    path: "/v1/webhooks/{id}/deliveries",
    tag: "alerts",
    summary: "List what was sent to a webhook in the last 30 days, and what waits, newest first",
    access: "admin",
    params: byWebhookId,
    query: PageQuery,
    reply: { status: 200, schema: DeliveryPage },
    problems: ["not-found"],
  }),
} as const;
