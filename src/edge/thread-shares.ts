import { ProblemError } from "../protocol/wire/problem.ts";

/** An inference, which has a budget, or any other request. */
export type RequestKind = "inference" | "other";

/** What a request says of itself. */
export interface ThreadCall {
  /** The caller's project; an address where that is not known yet. */
  readonly holder: string;
  readonly kind: RequestKind;
  /** Aborted once the caller has gone; absent where it cannot be seen. */
  readonly gone?: AbortSignal;
  readonly waitUntil: (work: Promise<unknown>) => void;
}

/** Interval of the beats that show how late the thread is, and what a timer is late on an idle one. */
const BEAT_MS = 3;
const TOLERANCE_MS = 1;
/** A beat that is later than this halves the places; so many in time add one. */
const LATE_MS = 5;
const BEATS_TO_GROW = 8;
/** Places of a holder: at least one, and at most what no late thread has taken away. */
const MOST_PLACES = 64;
/** An inference takes two short turns before it waits for a runner. */
const FEWEST_INFERENCES = 4;
/** A request that lasts longer mostly waits, for its body or a database: it takes no place any more. */
const PLACE_MS = 500;
/** One that lasts longer does not count at all: its caller may have left without a word. */
const COUNTED_MS = 10_000;
/** After its work, a holder leaves the thread to others for so many times as long, and this long at most. */
const PAUSE = 3;
const LONGEST_PAUSE_MS = 1_000;
/** Without a request of others for so long, nobody waits. */
const CALM_AFTER_MS = 1_000;
/** An inference no longer counts as urgent then. */
const URGENT_MS = 250;
/** Longest time for which other work waits for inferences to end: steady inference must not stop it. */
export const GIVE_WAY_MS = 20;
/** A waiting request looks again after this time, and after as long for each request before it. */
const LOOK_MS = 3;
const LONGEST_LOOK_MS = 100;
/** One that has not looked for so long is gone: its context was ended without a word. */
const GONE_MS = 5_000;
/** Beats of one request's context, some three seconds: those after it are another's. */
const MOST_BEATS = 1_000;
/**
 * Waiting requests of a holder and kind, and of all. Each holds a timer; the body of one has not been read. Fewer
 * inferences: those at the end of a long line begin after their budget (decision 0108).
 */
const MOST_WAITING = { inference: 32, other: 64 } as const;
const MOST_WAITING_OF_ALL = 512;
/** An inference has a budget, which few have left after half a second. */
const LONGEST_WAIT_MS = { inference: 500, other: 15_000 } as const;
/** Idle holders are forgotten beyond this. */
const KNOWN_HOLDERS = 1_000;

interface Line {
  /** Start of each request under way, the earliest first. */
  readonly running: Map<object, number>;
  /** In the order in which they came. */
  readonly waiting: Waiter[];
}

interface Waiter {
  readonly cameAtMs: number;
  lookedAtMs: number;
  /** Time of its timers, which no clock changes: in all, and while none was before it. */
  totalMs: number;
  firstMs: number;
}

interface Holder {
  readonly lines: Readonly<Record<RequestKind, Line>>;
  /** Its other requests wait until then. */
  freeAtMs: number;
  /**
   * Whether requests other than inferences were under way since the last beat: one may end in the turn that it made
   * long.
   */
  hasWorked: boolean;
}

/**
 * Shares the one thread of an isolate by project, as long as it is late. A turn of its loop lasts for all that is ready,
 * so each request of one project waits for all requests of the others. While others want the thread, a project has a
 * number of requests under way at once that falls while the thread is late (halved, and raised by one: Chiu and Jain,
 * Computer Networks and ISDN Systems 17, 1989). Requests that are no inference give way to inferences, those of their
 * own project too, and pause after their work.
 */
export class ThreadShares {
  readonly #now: () => number;
  readonly #holders = new Map<string, Holder>();
  /** Holders with requests under way. */
  readonly #active = new Set<Holder>();
  /** Start of each inference that is not answered yet. */
  readonly #urgent = new Map<object, number>();
  readonly #inferences = new WeakSet<object>();
  #urgentAtMs = Number.NEGATIVE_INFINITY;
  /** The two holders that came last, the latest first. */
  #latest: readonly { readonly name: string; readonly atMs: number }[] = [];
  #places = MOST_PLACES;
  /** Waiting requests of all holders. */
  #waiting = 0;
  #beatsInTime = 0;
  /** Time at which the next beat is due; null without beats. */
  #dueAtMs: number | null = null;
  #beats: object | null = null;

  /** `now`: milliseconds of a clock, which may stand still within a turn. */
  constructor(now: () => number) {
    this.#now = now;
  }

  /**
   * Waits for the request's turn. The returned function says that it needs the thread no more, as when it waits for a
   * runner. Throws `overloaded` where too many requests of its holder wait, or for too long.
   */
  async begin(call: ThreadCall): Promise<() => void> {
    const { holder: name, kind, waitUntil } = call;
    const nowMs = this.#now();
    this.#noteHolder(name, nowMs);
    const holder = this.#holderOf(name);
    if (holder.lines[kind].waiting.length > 0 || this.#mustWait(call, holder, { totalMs: 0, firstMs: 0 })) {
      const turn = this.#waitInLine(call, holder);
      // A request whose caller has gone ends without a word, and would stay the first of its line.
      waitUntil(turn.catch(() => undefined));
      await turn;
    }
    return this.#start(call, holder);
  }

  /** Counts an inference as urgent until the returned function is called. */
  beginUrgent(request: object = {}): () => void {
    this.#urgentAtMs = this.#now();
    this.#urgent.set(request, this.#urgentAtMs);
    this.#inferences.add(request);
    return () => void this.#urgent.delete(request);
  }

  isInference(request: object | undefined): boolean {
    return request !== undefined && this.#inferences.has(request);
  }

  /** Whether an inference is under way that began a moment ago. */
  hasUrgent(): boolean {
    const nowMs = this.#now();
    for (const [request, startedMs] of this.#urgent) {
      if (Math.abs(nowMs - startedMs) <= URGENT_MS) return true;
      this.#urgent.delete(request);
    }
    return false;
  }

  /** Whether an inference came within the last second. */
  hadUrgent(): boolean {
    return Math.abs(this.#now() - this.#urgentAtMs) < CALM_AFTER_MS;
  }

  #start({ holder: name, kind, waitUntil }: ThreadCall, holder: Holder): () => void {
    const { running } = holder.lines[kind];
    const request = {};
    running.set(request, this.#now());
    this.#active.add(holder);
    if (kind === "other") holder.hasWorked = true;
    // Who is alone has no beats.
    if (running.size > MOST_PLACES) this.#forgetEnded();
    if (this.#isWanted(name, kind)) this.#keepBeating(waitUntil);
    return () => void running.delete(request);
  }

  /** Whether others want the thread: for an inference another holder, for other work inferences as well. */
  #isWanted(name: string, kind: RequestKind): boolean {
    const nowMs = this.#now();
    if (kind === "other" && this.hadUrgent()) return true;
    return this.#latest.some((each) => each.name !== name && Math.abs(nowMs - each.atMs) < CALM_AFTER_MS);
  }

  #noteHolder(name: string, atMs: number): void {
    this.#latest = [{ name, atMs }, ...this.#latest.filter((each) => each.name !== name).slice(0, 1)];
  }

  #mustWait({ holder: name, kind }: ThreadCall, holder: Holder, waited: Pick<Waiter, "totalMs" | "firstMs">): boolean {
    if (this.#places === MOST_PLACES || !this.#isWanted(name, kind)) return false;
    const nowMs = this.#now();
    const placed = countPlaced(holder.lines[kind], nowMs);
    if (kind === "inference") return placed >= Math.max(FEWEST_INFERENCES, this.#places);
    if (placed >= this.#places || (waited.totalMs < GIVE_WAY_MS && this.hasUrgent())) return true;
    return nowMs < holder.freeAtMs && waited.firstMs < LONGEST_PAUSE_MS;
  }

  /** Each request looks by its own timer: the promises of one must not be settled by another. */
  async #waitInLine(call: ThreadCall, holder: Holder): Promise<void> {
    const { waiting } = holder.lines[call.kind];
    const most = MOST_WAITING[call.kind];
    if (waiting.length >= most) this.#dropGone(waiting);
    if (waiting.length >= most || this.#waiting >= MOST_WAITING_OF_ALL) throw tooMany(call.holder);
    const nowMs = this.#now();
    const waiter: Waiter = { cameAtMs: nowMs, lookedAtMs: nowMs, totalMs: 0, firstMs: 0 };
    waiting.push(waiter);
    this.#waiting++;
    try {
      for (;;) {
        waiter.lookedAtMs = this.#now();
        if (waiting[0] !== waiter) this.#dropGone(waiting);
        const before = Math.max(0, waiting.indexOf(waiter));
        const isGone = call.gone?.aborted === true;
        if (isGone || this.#waitedMs(call.kind, waiter) >= LONGEST_WAIT_MS[call.kind]) throw tooMany(call.holder);
        if (before === 0 && !this.#mustWait(call, holder, waiter)) return;
        const pauseMs = call.kind === "other" ? holder.freeAtMs - this.#now() : 0;
        // All that wait take a part of the thread's time, which does not grow with their number.
        const ownLookMs = LOOK_MS * (before + 1) * (1 + this.#waiting / MOST_WAITING.other);
        const lookMs = Math.min(LONGEST_LOOK_MS, Math.max(pauseMs, ownLookMs));
        await new Promise((resolve) => setTimeout(resolve, lookMs));
        waiter.totalMs += lookMs;
        if (before === 0) waiter.firstMs += lookMs;
      }
    } finally {
      this.#remove(waiting, (each) => each === waiter);
    }
  }

  /** An inference has a budget, which runs out by the clock also where timers are late. */
  #waitedMs(kind: RequestKind, { totalMs, cameAtMs }: Waiter): number {
    return kind === "inference" ? Math.max(totalMs, this.#now() - cameAtMs) : totalMs;
  }

  #dropGone(waiting: Waiter[]): void {
    const nowMs = this.#now();
    this.#remove(waiting, ({ lookedAtMs }) => Math.abs(nowMs - lookedAtMs) > GONE_MS);
  }

  #remove(waiting: Waiter[], isOut: (waiter: Waiter) => boolean): void {
    for (let at = waiting.length - 1; at >= 0; at--) {
      if (!isOut(waiting[at]!)) continue;
      waiting.splice(at, 1);
      this.#waiting--;
    }
  }

  /** Beats while requests are under way. The context of the request that began them may end before. */
  #keepBeating(waitUntil: ThreadCall["waitUntil"]): void {
    const isAlive = this.#dueAtMs !== null && Math.abs(this.#now() - this.#dueAtMs) < URGENT_MS;
    if (isAlive) return;
    const beats = {};
    this.#beats = beats;
    waitUntil(this.#beat(beats));
  }

  async #beat(beats: object): Promise<void> {
    let count = 0;
    do {
      const dueAtMs = this.#now() + BEAT_MS + TOLERANCE_MS;
      this.#dueAtMs = dueAtMs;
      await new Promise((resolve) => setTimeout(resolve, BEAT_MS));
      // Others began after a long silence.
      if (this.#beats !== beats) return;
      this.#note(this.#now() - dueAtMs);
      this.#forgetEnded();
    } while (this.#active.size > 0 && ++count < MOST_BEATS);
    this.#beats = this.#dueAtMs = null;
  }

  /** Notes how late a beat came: the holders with requests under way used the thread alike. */
  #note(lateMs: number): void {
    if (lateMs > LATE_MS) this.#places = Math.max(1, Math.floor(this.#places / 2));
    this.#beatsInTime = lateMs > LATE_MS ? 0 : this.#beatsInTime + 1;
    if (this.#beatsInTime >= BEATS_TO_GROW) {
      this.#places = Math.min(MOST_PLACES, this.#places + 1);
      this.#beatsInTime = 0;
    }
    if (lateMs <= 0) return;
    const nowMs = this.#now();
    for (const holder of this.#active) {
      if (!holder.hasWorked) continue;
      const pausedToMs = Math.max(nowMs, holder.freeAtMs) + (PAUSE * lateMs) / this.#active.size;
      holder.freeAtMs = Math.min(pausedToMs, nowMs + LONGEST_PAUSE_MS);
    }
  }

  #forgetEnded(): void {
    const earliestMs = this.#now() - COUNTED_MS;
    for (const holder of this.#active) {
      const lines = Object.values(holder.lines);
      for (const { running } of lines) {
        for (const [request, startedMs] of running) {
          if (startedMs > earliestMs) break;
          running.delete(request);
        }
      }
      holder.hasWorked = holder.lines.other.running.size > 0;
      if (lines.every(({ running }) => running.size === 0)) this.#active.delete(holder);
    }
  }

  #holderOf(name: string): Holder {
    const known = this.#holders.get(name);
    if (known !== undefined) return known;
    if (this.#holders.size >= KNOWN_HOLDERS) this.#forgetIdle();
    const line = (): Line => ({ running: new Map(), waiting: [] });
    const holder = { lines: { inference: line(), other: line() }, freeAtMs: 0, hasWorked: false };
    this.#holders.set(name, holder);
    return holder;
  }

  #forgetIdle(): void {
    for (const [name, holder] of this.#holders) {
      const isAwaited = Object.values(holder.lines).some(({ waiting }) => waiting.length > 0);
      if (!this.#active.has(holder) && !isAwaited && holder.freeAtMs <= this.#now()) this.#holders.delete(name);
    }
  }
}

function countPlaced({ running }: Line, nowMs: number): number {
  let count = 0;
  for (const startedMs of running.values()) if (Math.abs(nowMs - startedMs) < PLACE_MS) count++;
  return count;
}

/** A project as a holder; its runners are another one, so that callers do not keep them from coming back. */
export function nameHolder(project: string, isRunners: boolean): string {
  return `${isRunners ? "runners of " : ""}the project ${project}`;
}

function tooMany(holder: string): ProblemError {
  const detail = `Too many requests of ${holder} wait for the edge, which others need too: send fewer at once.`;
  return new ProblemError("overloaded", detail, { retryAfterMs: 1_000 });
}
