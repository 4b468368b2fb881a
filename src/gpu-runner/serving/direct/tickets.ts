import { createHmac, timingSafeEqual } from "node:crypto";
import { readGrant, splitTicket, type TicketGrant } from "../../../protocol/inference/ticket.ts";
import type { TicketKey } from "../../../protocol/link.ts";
import { LIMITS } from "../../../protocol/wire/limits.ts";
import { challenge, ProblemError } from "../../../protocol/wire/problem.ts";

interface Key {
  readonly keyId: string;
  readonly secret: Buffer;
  /** Time of the next key's arrival; infinite for the newest. */
  readonly replacedAtMs: number;
}

/** Time for which the edge may sign with a replaced key, with a margin for message delays. */
const HANDOVER_MS = 10_000;
/** Longest life of a key's tickets after the next key's arrival. */
const KEPT_MS = HANDOVER_MS + LIMITS.maxTicketMs;

/**
 * Keys with which the edge signs this runner's tickets, and the edge's time, by which they expire. That time continues
 * from the last hand-over on the monotonic clock, so it lags only by that message's delay.
 */
export class TicketKeys {
  #keys: readonly Key[] = [];
  #edgeAheadMs = 0;

  /** `nowMs` is the monotonic clock, here as below. */
  take({ keyId, secret, atMs }: Omit<TicketKey, "type">, nowMs: number): void {
    // Every connection brings one, so there may be many.
    const before = this.#keys
      .map((key) => ({ ...key, replacedAtMs: Math.min(key.replacedAtMs, nowMs) }))
      .filter(({ replacedAtMs }) => nowMs - replacedAtMs < KEPT_MS);
    this.#keys = [{ keyId, secret: Buffer.from(secret, "base64url"), replacedAtMs: Infinity }, ...before];
    this.#edgeAheadMs = atMs - nowMs;
  }

  find(keyId: string): Buffer | null {
    return this.#keys.find((key) => key.keyId === keyId)?.secret ?? null;
  }

  edgeTimeMs(nowMs: number): number {
    return nowMs + this.#edgeAheadMs;
  }
}

/**
 * Contents of a ticket, read only after its MAC was verified. Throws `unauthorized` for a ticket that is not this
 * runner's; expiry is not checked.
 */
function readTicket(ticket: string, keys: Pick<TicketKeys, "find">, runnerId: string): TicketGrant {
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

function refusal(code: "unauthorized" | "ticket-expired", detail: string, authorization = "Bearer"): ProblemError {
  const errors = [{ pointer: "header/authorization", message: detail }];
  return new ProblemError(code, detail, { errors }, challenge(authorization));
}

interface Entry {
  readonly grant: TicketGrant;
  requests: number;
}

/**
 * Tickets in use, until they expire. Each is verified at its first use: reading it anew took a tenth of a millisecond
 * of every request. A ticket is valid for a limited number of requests, in case it leaks.
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
   * Grant of the ticket in an `Authorization` header for one more request, at a time of the monotonic clock. Throws
   * `unauthorized`, or `ticket-expired` where its time or its requests are used up.
   */
  use(authorization: string | undefined, nowMs: number): TicketGrant {
    const ticket = /^Bearer +(\S+)$/i.exec(authorization ?? "")?.[1];
    if (ticket === undefined)
      throw refusal("unauthorized", "Send `Authorization: Bearer` and a ticket.", authorization ?? "");
    const edgeTimeMs = this.#keys.edgeTimeMs(nowMs);
    const entry = this.#entries.get(ticket) ?? this.#add(ticket, edgeTimeMs);
    if (edgeTimeMs >= entry.grant.expiresAtMs) throw refusal("ticket-expired", "The ticket's time is over.");
    if (entry.requests >= (entry.grant.requests ?? LIMITS.ticketRequests))
      throw refusal("ticket-expired", "The ticket's requests are used up.");
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
