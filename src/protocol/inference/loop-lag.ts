/** Longest gap between two turns that follow each other: clocks may count whole milliseconds. */
const NEXT_MS = 1;
/** Times up to here are those of an idle thread. */
const IDLE_MS = 3;
/** A request that began earlier no longer counts: one whose caller left may never say that it ended. */
const UNDER_WAY_MS = 250;

/** A request under way. */
interface Begun {
  /** Milliseconds for which it may have waited before it began. */
  readonly unseenMs: number;
  readonly end: () => void;
}

/**
 * Lateness of a server's one thread. Within a turn of its loop it does not look at its sockets, so a request may have
 * waited there since the last turn began, before any code could note its arrival.
 */
export class LoopLag {
  readonly #now: () => number;
  readonly #lostMs: number;
  /** Start of each request under way. */
  readonly #begun = new Map<object, number>();
  /** Length and end of the last turn. */
  #turnMs = 0;
  #endedAtMs = Number.NEGATIVE_INFINITY;
  /** Start of the turn that is being measured. */
  #beganAtMs: number | null = null;

  /**
   * `now`: milliseconds of a clock, which may stand still within a turn. A turn of more than `lostMs` is one that was
   * lost with the request that measured it, or a clock that was set; absent where neither happens.
   */
  constructor(now: () => number, lostMs = Number.POSITIVE_INFINITY) {
    this.#now = now;
    this.#lostMs = lostMs;
  }

  /**
   * Counts a request until it ends. Its unseen wait is the last turn, if it was measured and this one follows it, and
   * this one so far: 0 where the thread was idle, or no other request is under way. `untilNextTurn` settles once the
   * loop looks at its sockets again; one request of a turn calls it.
   */
  begin(untilNextTurn: () => Promise<unknown>): Begun {
    const nowMs = this.#now();
    const passedMs = nowMs - (this.#beganAtMs ?? nowMs);
    const isOpen = this.#beganAtMs !== null && passedMs >= 0 && passedMs <= this.#lostMs;
    if (!isOpen) void this.#measure(nowMs, untilNextTurn);
    const beganAtMs = isOpen ? this.#beganAtMs! : nowMs;
    const isNext = Math.abs(beganAtMs - this.#endedAtMs) <= NEXT_MS;
    const waitedMs = (isNext ? this.#turnMs : 0) + nowMs - beganAtMs;
    // A caller that sends one request after the other never waits for its own last one.
    const unseenMs = waitedMs > IDLE_MS && this.#hasOthers(nowMs) ? waitedMs : 0;
    const request = {};
    this.#begun.set(request, nowMs);
    return { unseenMs, end: () => void this.#begun.delete(request) };
  }

  #hasOthers(nowMs: number): boolean {
    for (const [request, beganAtMs] of this.#begun) {
      if (Math.abs(nowMs - beganAtMs) <= UNDER_WAY_MS) return true;
      this.#begun.delete(request);
    }
    return false;
  }

  async #measure(beganAtMs: number, untilNextTurn: () => Promise<unknown>): Promise<void> {
    this.#beganAtMs = beganAtMs;
    await untilNextTurn().catch(() => {});
    if (this.#beganAtMs !== beganAtMs) return;
    this.#beganAtMs = null;
    this.#endedAtMs = this.#now();
    const turnMs = this.#endedAtMs - beganAtMs;
    this.#turnMs = turnMs >= 0 && turnMs <= this.#lostMs ? turnMs : 0;
  }
}
