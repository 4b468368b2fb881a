import { z } from "zod";
import { fromBase64Url, toBase64Url } from "../wire/base64url.ts";
import { faultFields } from "../wire/fault.ts";
import { Backend } from "../fleet/hardware.ts";
import { idSchema } from "../wire/id.ts";
import { InferReplyHeader, ServiceTimes, wishFields } from "./inference.ts";
import { LIMITS } from "../wire/limits.ts";
import { Instant } from "../wire/page.ts";
import { Problem } from "../wire/problem.ts";
import { TensorHeader } from "../wire/tensor.ts";

/**
 * Direct tickets: the edge chooses a placement once and signs what it allows; until the ticket ends
 * its holder asks the runner itself, without a hop. docs/protocol.md has the layout.
 */
export const TicketRequest = z
  .strictObject({
    model: z.string().min(1).max(128).meta({ description: "Name or id of a model; `name@2` names a version" }),
    ...wishFields,
    lifeMs: z.number().int().min(1_000).max(LIMITS.maxTicketMs).default(LIMITS.ticketMs).meta({
      description: "Time for which it is valid; a long one is for tools that cannot renew it",
    }),
    requests: z.number().int().min(1).max(LIMITS.maxTicketRequests).default(LIMITS.ticketRequests).meta({
      description: "How many requests it is good for",
    }),
  })
  // A request that uses it has no field for this: its runner refuses at once.
  .omit({ refuseWithinMs: true })
  .meta({ id: "TicketRequest" });
export type TicketRequest = z.infer<typeof TicketRequest>;

export const Ticket = z
  .object({
    ticket: z.string().meta({ description: "Bearer of `POST {url}`; a secret" }),
    url: z.url().meta({ description: "Where the runner takes inferences" }),
    expiresAt: Instant,
    lifeMs: z.number().int().meta({ description: "From the reply to its end: for those whose clock is another" }),
    requests: z.number().int().meta({ description: "How many it is good for" }),
    model: z.string(),
    version: z.number().int(),
    placement: InferReplyHeader.shape.placement.omit({ batch: true }),
    prediction: InferReplyHeader.shape.prediction.meta({
      description: "Of the service alone: what lies between client and runner the edge does not know",
    }),
    budgetMs: z.number().meta({ description: "The largest budget that a request may have" }),
  })
  .meta({ id: "Ticket" });
export type Ticket = z.infer<typeof Ticket>;

/** Signed content of a ticket. */
export const TicketGrant = z.object({
  runnerId: idSchema("runner"),
  placementId: idSchema("placement"),
  modelVersionId: idSchema("modelVersion"),
  variant: z.string(),
  deviceKey: z.string(),
  backend: Backend,
  /** The largest budget of a request. */
  budgetMs: z.number(),
  confidence: z.number(),
  priority: z.number().int(),
  /** How many requests it is good for; absent in those of older edges. */
  requests: z.number().int().optional(),
  /** Name and number of the model version under `/v2`; absent in those of older edges. */
  model: z.string().optional(),
  version: z.number().int().optional(),
  /** On the edge's clock. */
  expiresAtMs: z.number(),
  /** Makes tickets of the same content distinct. */
  nonce: z.string(),
});
export type TicketGrant = z.infer<typeof TicketGrant>;

/** A ticket taken apart; nothing of it is believed yet. */
export interface SplitTicket {
  readonly keyId: string;
  /** Text that the MAC covers. */
  readonly signed: string;
  readonly payload: string;
  readonly mac: Uint8Array<ArrayBuffer>;
}

/** The last digit of a MAC holds four bits: others would be a second text for the same ticket. */
const FORM = /^(mx_([0-9a-f]{16})\.([A-Za-z0-9_-]+))\.([A-Za-z0-9_-]{42}[AEIMQUYcgkosw048])$/;

/** The text that is signed: `mx_<key id>.<grant as JSON in base64url>`. */
export function writeGrant(keyId: string, grant: TicketGrant): string {
  return `mx_${keyId}.${toBase64Url(new TextEncoder().encode(JSON.stringify(grant)))}`;
}

/** The whole ticket: the signed text, a dot, and its HMAC-SHA-256 in base64url. */
export function joinTicket(signed: string, mac: Uint8Array): string {
  return `${signed}.${toBase64Url(mac)}`;
}

/** Takes a ticket apart; null where it has not the form of one. */
export function splitTicket(text: string): SplitTicket | null {
  if (text.length > LIMITS.ticketLength) return null;
  const [, signed, keyId, payload, macText] = FORM.exec(text) ?? [];
  const mac = fromBase64Url(macText ?? "");
  if (signed === undefined || keyId === undefined || payload === undefined || mac === null) return null;
  return { keyId, signed, payload, mac };
}

/** The grant in a payload whose MAC was right; null where it is not of this protocol. */
export function readGrant(payload: string): TicketGrant | null {
  const bytes = fromBase64Url(payload);
  if (bytes === null) return null;
  try {
    return TicketGrant.safeParse(JSON.parse(new TextDecoder().decode(bytes))).data ?? null;
  } catch {
    return null;
  }
}

/** Header of the frame that a ticket's holder sends to the runner; everything else is in the ticket. */
export const DirectFrameHeader = z.strictObject({
  /** Counted from the arrival at the runner; absent: the ticket's. */
  budgetMs: z.number().min(LIMITS.minBudgetMs).max(LIMITS.maxBudgetMs).optional(),
  tensors: z.array(TensorHeader).min(1).max(LIMITS.tensorsPerRequest),
});
export type DirectFrameHeader = z.infer<typeof DirectFrameHeader>;

/** Header of the frame that answers it. Every time is of the runner's clock, from the request's arrival there. */
export const DirectReplyHeader = z.object({
  requestId: idSchema("request"),
  latency: ServiceTimes.extend({ totalMs: z.number().min(0) }),
  /** Rows of the batch that it was computed in. */
  batch: z.number().int(),
  budgetMs: z.number(),
  budgetMet: z.boolean(),
  tensors: z.array(TensorHeader),
  ...faultFields,
});
export type DirectReplyHeader = z.infer<typeof DirectReplyHeader>;

/** Outcome of one request under a ticket, as the runner reports it to the edge. */
export const DirectOutcome = z.object({
  placementId: idSchema("placement"),
  /** Rows of its batch, and its own; the latter are absent from older runners. */
  rows: z.number().int().min(1),
  ownRows: z.number().int().min(1).optional(),
  totalMs: z.number().min(0),
  /** Null where there was no answer, or another device stood in. */
  times: ServiceTimes.nullable(),
  /** Why there was no answer. */
  refusedFor: Problem.shape.code.optional(),
});
export type DirectOutcome = z.infer<typeof DirectOutcome>;
