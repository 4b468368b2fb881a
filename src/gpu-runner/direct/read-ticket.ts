import { createHmac, timingSafeEqual } from "node:crypto";
import { ProblemError } from "../../protocol/problem.ts";
import { readGrant, splitTicket, type TicketGrant } from "../../protocol/ticket.ts";
import type { TicketKeys } from "./ticket-keys.ts";

/**
 * What a ticket allows. Nothing in it is read before its MAC was found right. Throws `unauthorized` for
 * what is none of this runner's; whether it has ended is not looked at.
 */
export function readTicket(ticket: string, keys: Pick<TicketKeys, "find">, runnerId: string): TicketGrant {
  const split = splitTicket(ticket);
  const secret = split === null ? null : keys.find(split.keyId);
  if (split === null || secret === null || !timingSafeEqual(macOf(secret, split.signed), split.mac)) {
    throw refusal("unauthorized", "This is no ticket of this runner, or one of a key that it has no more.");
  }
  const grant = readGrant(split.payload);
  if (grant === null || grant.runnerId !== runnerId) throw refusal("unauthorized", "The ticket is of another runner.");
  return grant;
}

function macOf(secret: Buffer, signed: string): Buffer {
  return createHmac("sha256", secret).update(signed).digest();
}

export function refusal(code: "unauthorized" | "ticket-expired", detail: string): ProblemError {
  return new ProblemError(code, detail, { errors: [{ pointer: "header/authorization", message: detail }] });
}
