/** A turn follows another where so much time lies between them at most: clocks may count whole milliseconds. */
const NEXT_MS = 1;
/** Times up to here are those of an idle thread. */
const IDLE_MS = 3;
/** A turn of more is one that was lost with the request that measured it, or a clock that was set. */
const LOST_MS = 250;

/**
 * Lateness of a server's one thread. Within a turn of its loop it does not look at its sockets, so a request may have
 * waited there since the last turn began, before any code could note its arrival.
 */
export class LoopLag {
  readonly #now: () => number;
  /** Requests under way. */
  #requests = 0;
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
   * Counts a request until `end`, and returns the longest time in milliseconds for which it may have waited unseen: 0 where
   * it is alone, or the thread was idle. `untilNextTurn` settles once the loop looks at its sockets again; one request of a
   * turn calls it.
   */
  begin(untilNextTurn: () => Promise<unknown>): number {
    const nowMs = this.#now();
    const passedMs = nowMs - (this.#beganAtMs ?? nowMs);
    const isOpen = this.#beganAtMs !== null && passedMs >= 0 && passedMs <= LOST_MS;
    if (!isOpen) void this.#measure(nowMs, untilNextTurn);
    const beganAtMs = isOpen ? this.#beganAtMs! : nowMs;
    const isNext = Math.abs(beganAtMs - this.#endedAtMs) <= NEXT_MS;
    const waitedMs = (isNext ? this.#turnMs : 0) + nowMs - beganAtMs;
    // A caller that sends one request after the other never waits for its own last one.
    const isAlone = this.#requests++ === 0;
    return isAlone || waitedMs <= IDLE_MS ? 0 : waitedMs;
  }

  end(): void {
    this.#requests--;
  }

  async #measure(beganAtMs: number, untilNextTurn: () => Promise<unknown>): Promise<void> {
    this.#beganAtMs = beganAtMs;
    await untilNextTurn().catch(() => {});
    if (this.#beganAtMs !== beganAtMs) return;
    this.#beganAtMs = null;
    this.#endedAtMs = this.#now();
    const turnMs = this.#endedAtMs - beganAtMs;
    this.#turnMs = turnMs >= 0 && turnMs <= LOST_MS ? turnMs : 0;
  }
}
