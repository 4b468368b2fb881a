/** Times up to here are those of an idle thread. */
const IDLE_MS = 3;
/** A turn that did not end by then was lost with the request that measured it. */
const LOST_MS = 1_000;

/**
 * Lateness of a server's one thread. Within a turn of its loop it does not look at its sockets, so a request may have
 * waited there since the last turn began, before any code could note its arrival.
 */
export class LoopLag {
  readonly #now: () => number;
  /** Length and end of the last turn. */
  #turnMs = 0;
  #endedAtMs = Number.NEGATIVE_INFINITY;
  /** Start of the turn that is being measured. */
  #beganAtMs: number | null = null;

  /** `now`: milliseconds of a clock, which may stand still within a turn. */
  constructor(now: () => number) {
    this.#now = now;
  }

  /**
   * Longest time in milliseconds for which a request that begins now may have waited unseen; 0 for an idle thread.
   * `untilNextTurn` settles once the loop has looked at its sockets again; one request of a turn calls it.
   */
  beforeRequest(untilNextTurn: () => Promise<unknown>): number {
    const nowMs = this.#now();
    const passedMs = nowMs - (this.#beganAtMs ?? nowMs);
    const isOpen = this.#beganAtMs !== null && passedMs >= 0 && passedMs <= LOST_MS;
    if (!isOpen) void this.#measure(nowMs, untilNextTurn);
    const beganAtMs = isOpen ? this.#beganAtMs! : nowMs;
    // After a rest there was no turn to wait for.
    const beforeMs = beganAtMs - this.#endedAtMs <= IDLE_MS ? this.#turnMs : 0;
    const waitedMs = beforeMs + nowMs - beganAtMs;
    return waitedMs > IDLE_MS ? waitedMs : 0;
  }

  async #measure(beganAtMs: number, untilNextTurn: () => Promise<unknown>): Promise<void> {
    this.#beganAtMs = beganAtMs;
    try {
      await untilNextTurn();
    } finally {
      if (this.#beganAtMs === beganAtMs) {
        this.#beganAtMs = null;
        this.#endedAtMs = this.#now();
        this.#turnMs = Math.max(0, this.#endedAtMs - beganAtMs);
      }
    }
  }
}
