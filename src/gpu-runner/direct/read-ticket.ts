import { createHmac, timingSafeEqual } from "node:crypto";
import { ProblemError } from "../../protocol/problem.ts";
import { readGrant, splitTicket, type TicketGrant } from "../../protocol/ticket.ts";
import type { TicketKeys } from "./ticket-keys.ts";

/**
 * What the ticket in an `Authorization` header allows. Nothing in it is read before its MAC was found
 * right. Throws `unauthorized`, or `ticket-expired` where it was good once.
 */
export function readTicket(
  authorization: string | undefined,
  keys: Pick<TicketKeys, "find" | "edgeTimeMs">,
  runnerId: string,
  nowMs: number,
): TicketGrant {
  const text = /^Bearer +(\S+)$/i.exec(authorization ?? "")?.[1];
  if (text === undefined) throw refusal("unauthorized", "Send `Authorization: Bearer` and a ticket.");
  const split = splitTicket(text);
  const secret = split === null ? null : keys.find(split.keyId);
  if (split === null || secret === null || !timingSafeEqual(macOf(secret, split.signed), split.mac)) {
    throw refusal("unauthorized", "This is no ticket of this runner, or one of a key that it has no more.");
  }
  const grant = readGrant(split.payload);
  if (grant === null || grant.runnerId !== runnerId) throw refusal("unauthorized", "The ticket is of another runner.");
  if (keys.edgeTimeMs(nowMs) >= grant.expiresAtMs) throw refusal("ticket-expired", "The ticket's time is over.");
  return grant;
}

function macOf(secret: Buffer, signed: string): Buffer {
  return createHmac("sha256", secret).update(signed).digest();
}

export function refusal(code: "unauthorized" | "ticket-expired", detail: string): ProblemError {
  return new ProblemError(code, detail, { errors: [{ pointer: "header/authorization", message: detail }] });
}
