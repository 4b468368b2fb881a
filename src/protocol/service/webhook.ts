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

/** Names that are of no public domain (RFC 6761, 6762, 8375, and what routers use), and those without a dot. */
const LOCAL_NAMES = /^[^.]+\.?$|\.(localhost|local|localdomain|internal|intranet|lan|home|corp|home\.arpa)\.?$/;
/** IPv4 that is not public (RFC 6890): private, loopback, link-local, shared, for benchmarks, multicast, reserved. */
const LOCAL_IPV4 =
  /^(0|10|127|22[4-9]|2[345]\d)\.|^169\.254\.|^192\.168\.|^192\.0\.0\.|^198\.1[89]\.|^172\.(1[6-9]|2\d|3[01])\.|^100\.(6[4-9]|[7-9]\d|1[01]\d|12[0-7])\./;
/** IPv6 that is not public: below ::/16, which has IPv4 too; translated and tunnelled IPv4; site, link and multicast. */
const LOCAL_IPV6 = /^\[(::|64:ff9b:|2001:(0?:)|2002:|f[cd][0-9a-f]{2}:|fe[89a-f][0-9a-f]:|ff[0-9a-f]{2}:)/;

/**
 * Whether a URL leads to the edge's own machine or network by its name or address. A public name that resolves to such
 * an address is not found out.
 */
export function isOwnNetwork(url: string): boolean {
  const { hostname } = new URL(url);
  if (hostname.startsWith("[")) return LOCAL_IPV6.test(hostname);
  return /^\d+(\.\d+){3}$/.test(hostname) ? LOCAL_IPV4.test(hostname) : LOCAL_NAMES.test(hostname);
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
