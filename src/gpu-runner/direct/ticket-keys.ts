import type { TicketKey } from "../../protocol/link.ts";

interface Key {
  readonly keyId: string;
  readonly secret: Buffer;
}

/** Tickets of the key before live for seconds: of more keys none can be left. */
const KEPT_KEYS = 2;

/**
 * The keys that the edge signs this runner's tickets with, and the edge's time, by which they end. That is
 * reckoned from the last hand-over on the monotonic clock, so it lags by that message's way, and no more.
 */
export class TicketKeys {
  #keys: readonly Key[] = [];
  #edgeAheadMs = 0;

  /** `nowMs` is the monotonic clock, here as below. */
  take({ keyId, secret, atMs }: Omit<TicketKey, "type">, nowMs: number): void {
    this.#keys = [{ keyId, secret: Buffer.from(secret, "base64url") }, ...this.#keys].slice(0, KEPT_KEYS);
    this.#edgeAheadMs = atMs - nowMs;
  }

  find(keyId: string): Buffer | null {
    return this.#keys.find((key) => key.keyId === keyId)?.secret ?? null;
  }

  edgeTimeMs(nowMs: number): number {
    return nowMs + this.#edgeAheadMs;
  }
}
