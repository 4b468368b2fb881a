import { z } from "zod";
import { idSchema } from "../wire/id.ts";
import { LIMITS } from "../wire/limits.ts";
import { Instant, pageOf } from "../wire/page.ts";

/** Events that a webhook receives. */
export const WebhookEvent = z
  .enum(["alert.opened", "alert.acknowledged", "alert.resolved", "alert.dismissed"])
  .meta({ id: "WebhookEvent" });
export type WebhookEvent = z.infer<typeof WebhookEvent>;

/** Allowed receivers: over TLS, or a program on the edge's own machine. */
const WebhookUrl = z
  .string()
  .max(LIMITS.urlLength)
  .refine(isWebhookUrl, "must be an https URL without name and password, or http to a loopback address")
  .meta({ example: "https://example.com/hooks/millrace" });

function isWebhookUrl(text: string): boolean {
  const url = URL.parse(text);
  if (url === null || url.username !== "" || url.password !== "") return false;
  const isLoopback = /^(localhost|127(\.\d+){3}|\[::1\])$/.test(url.hostname);
  return url.protocol === "https:" || (url.protocol === "http:" && isLoopback);
}

export const WebhookInput = z
  .strictObject({
    url: WebhookUrl,
    events: z
      .array(WebhookEvent)
      .min(1)
      .max(WebhookEvent.options.length)
      .default(["alert.opened", "alert.resolved"])
      .meta({ description: "What to tell of" }),
    direction: z
      .enum(["regression", "improvement"])
      .optional()
      .meta({ description: "Tell of such alerts alone; absent: of both" }),
  })
  .meta({ id: "WebhookInput" });
export type WebhookInput = z.infer<typeof WebhookInput>;

export const Webhook = z
  .object({
    id: idSchema("webhook"),
    url: z.string(),
    events: z.array(WebhookEvent),
    direction: z.enum(["regression", "improvement"]).optional(),
    createdAt: Instant,
    disabledAt: Instant.nullable().meta({ description: "When its receiver answered 410: nothing is sent any more" }),
  })
  .meta({ id: "Webhook" });
export type Webhook = z.infer<typeof Webhook>;

/** The only reply that ever holds the secret: `whsec_` and base64 of the key, as Standard Webhooks wants it. */
export const CreatedWebhook = Webhook.extend({ secret: z.string() }).meta({ id: "CreatedWebhook" });
export type CreatedWebhook = z.infer<typeof CreatedWebhook>;
export const WebhookPage = pageOf(Webhook, "Webhook");

export const WebhookPing = z
  .object({
    delivered: z.boolean(),
    outcome: z.string().meta({ description: "What came of it, such as `answered 200`" }),
  })
  .meta({ id: "WebhookPing" });
export type WebhookPing = z.infer<typeof WebhookPing>;

/** One message to one webhook. */
export const Delivery = z
  .object({
    id: idSchema("delivery").meta({ description: "Sent as `webhook-id`: the same at every attempt" }),
    event: WebhookEvent,
    alertId: z.string(),
    state: z.enum(["pending", "delivered", "given-up"]),
    attempts: z.number().int(),
    lastOutcome: z.string().nullable(),
    createdAt: Instant,
    deliveredAt: Instant.nullable(),
    nextAttemptAt: Instant.nullable(),
  })
  .meta({ id: "WebhookDelivery" });
export type Delivery = z.infer<typeof Delivery>;
export const DeliveryPage = pageOf(Delivery, "WebhookDelivery");
