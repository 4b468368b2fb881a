import { LIMITS } from "../../protocol/limits.ts";
import { ProblemError } from "../../protocol/problem.ts";
import type { TicketGrant } from "../../protocol/ticket.ts";
import { readTicket, refusal } from "./read-ticket.ts";
import type { TicketKeys } from "./ticket-keys.ts";

interface Entry {
  readonly grant: TicketGrant;
  requests: number;
}

/**
 * The tickets that are in use, until they end. Each is verified when it first comes: reading it anew took a
 * tenth of a millisecond of every request. It is good for so many requests and no more, should it leak.
 */
export class TicketBook {
  readonly #keys: Pick<TicketKeys, "find" | "edgeTimeMs">;
  readonly #runnerId: string;
  readonly #entries = new Map<string, Entry>();

  constructor(keys: Pick<TicketKeys, "find" | "edgeTimeMs">, runnerId: string) {
    this.#keys = keys;
    this.#runnerId = runnerId;
  }

  /**
   * What the ticket in an `Authorization` header allows for one more request, at a time of the monotonic
   * clock. Throws `unauthorized`, or `ticket-expired` where its time or its requests are over.
   */
  use(authorization: string | undefined, nowMs: number): TicketGrant {
    const ticket = /^Bearer +(\S+)$/i.exec(authorization ?? "")?.[1];
    if (ticket === undefined) throw refusal("unauthorized", "Send `Authorization: Bearer` and a ticket.");
    const edgeTimeMs = this.#keys.edgeTimeMs(nowMs);
    const entry = this.#entries.get(ticket) ?? this.#add(ticket, edgeTimeMs);
    if (edgeTimeMs >= entry.grant.expiresAtMs) throw refusal("ticket-expired", "The ticket's time is over.");
    if (entry.requests >= LIMITS.ticketRequests) throw refusal("ticket-expired", "The ticket's requests are used up.");
    entry.requests++;
    return entry.grant;
  }

  #add(ticket: string, edgeTimeMs: number): Entry {
    const entry = { grant: readTicket(ticket, this.#keys, this.#runnerId), requests: 0 };
    if (entry.grant.expiresAtMs <= edgeTimeMs) return entry;
    if (this.#entries.size >= LIMITS.ticketsHeld) {
      for (const [key, { grant }] of this.#entries) if (grant.expiresAtMs <= edgeTimeMs) this.#entries.delete(key);
      if (this.#entries.size >= LIMITS.ticketsHeld) {
        const detail = `${LIMITS.ticketsHeld} tickets are in use on this runner.`;
        throw new ProblemError("overloaded", detail, { retryAfterMs: 1_000 });
      }
    }
    this.#entries.set(ticket, entry);
    return entry;
  }
}
