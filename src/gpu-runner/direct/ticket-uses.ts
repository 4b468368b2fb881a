import { LIMITS } from "../../protocol/limits.ts";
import { ProblemError } from "../../protocol/problem.ts";
import type { TicketGrant } from "../../protocol/ticket.ts";
import { refusal } from "./read-ticket.ts";

interface Use {
  readonly expiresAtMs: number;
  requests: number;
}

/** How often each ticket was used, until it ends: one that leaked is good for no more than its limit. */
export class TicketUses {
  readonly #byNonce = new Map<string, Use>();

  /** Counts a request at the edge's time. Throws `ticket-expired` where the ticket is used up. */
  count({ nonce, expiresAtMs }: Pick<TicketGrant, "nonce" | "expiresAtMs">, edgeTimeMs: number): void {
    const use = this.#byNonce.get(nonce) ?? this.#add(nonce, expiresAtMs, edgeTimeMs);
    if (use.requests >= LIMITS.ticketRequests) throw refusal("ticket-expired", "The ticket's requests are used up.");
    use.requests++;
  }

  #add(nonce: string, expiresAtMs: number, edgeTimeMs: number): Use {
    if (this.#byNonce.size >= LIMITS.ticketsHeld) {
      for (const [key, use] of this.#byNonce) if (use.expiresAtMs <= edgeTimeMs) this.#byNonce.delete(key);
      if (this.#byNonce.size >= LIMITS.ticketsHeld) {
        const detail = `${LIMITS.ticketsHeld} tickets are in use on this runner.`;
        throw new ProblemError("overloaded", detail, { retryAfterMs: 1_000 });
      }
    }
    const use = { expiresAtMs, requests: 0 };
    this.#byNonce.set(nonce, use);
    return use;
  }
}
