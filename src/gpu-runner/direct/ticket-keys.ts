import { LIMITS } from "../../protocol/limits.ts";
import type { TicketKey } from "../../protocol/link.ts";

interface Key {
  readonly keyId: string;
  readonly secret: Buffer;
  /** When a newer one came; infinite for the newest. */
  readonly replacedAtMs: number;
}

/** How long the edge may sign with a key that it has replaced, with some room for the messages' way. */
const HANDOVER_MS = 10_000;
/** No ticket of a key lives longer after the next key came. */
const KEPT_MS = HANDOVER_MS + LIMITS.ticketMs;

/**
 * The keys that the edge signs this runner's tickets with, and the edge's time, by which they end. That is
 * reckoned from the last hand-over on the monotonic clock, so it lags by that message's way, and no more.
 */
export class TicketKeys {
  #keys: readonly Key[] = [];
  #edgeAheadMs = 0;

  /** `nowMs` is the monotonic clock, here as below. */
  take({ keyId, secret, atMs }: Omit<TicketKey, "type">, nowMs: number): void {
    // Every connection brings one, so that there may be many.
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
