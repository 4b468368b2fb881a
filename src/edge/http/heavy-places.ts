import { FairPlaces } from "../../protocol/inference/fair-places.ts";
import { ProblemError } from "../../protocol/wire/problem.ts";

interface Held {
  readonly holder: string;
  seenAtMs: number;
}

interface Bounds {
  /** Places of one holder. */
  readonly ofOne: number;
  readonly ofAll: number;
  /** Time after which a place counts as left: the platform may end a request without a word. */
  readonly leaseMs: number;
}

/** Holders whose last turns are known. */
const KNOWN_HOLDERS = 1_000;

/** Places with a bound for each holder and one for all, of which the last are for holders that have few. */
export class BoundedPlaces {
  readonly #bounds: Bounds;
  /** In the order in which they were taken. */
  readonly #held = new Map<object, Held>();
  readonly #places: FairPlaces<string>;
  /** Number of the last turn of each holder, the latest last. */
  readonly #turns = new Map<string, number>();
  #lastTurn = 0;

  constructor(bounds: Bounds) {
    this.#bounds = bounds;
    this.#places = new FairPlaces(bounds.ofAll);
  }

  hasRoom(holder: string, nowMs: number): boolean {
    const own = this.#alive(nowMs).filter((held) => held.holder === holder);
    return own.length < this.#bounds.ofOne && this.#places.hasRoom(holder);
  }

  /** A place, which must be left; null where the holder or all have too many. */
  enter(holder: string, nowMs: number): object | null {
    if (!this.hasRoom(holder, nowMs)) return null;
    this.#places.take(holder);
    const place = {};
    this.#held.set(place, { holder, seenAtMs: nowMs });
    return place;
  }

  leave(place: object): void {
    const held = this.#held.get(place);
    if (held === undefined) return;
    this.#held.delete(place);
    this.#places.giveBack(held.holder);
  }

  /**
   * Takes the turn of this place, which is kept alive, if its holder comes next: of those for which there is room, the
   * one whose last turn is longest ago, by the place that it took first.
   */
  takeTurn(place: object, nowMs: number, hasRoom: (holder: string) => boolean): boolean {
    const own = this.#held.get(place);
    if (own === undefined) return false;
    own.seenAtMs = nowMs;
    // Mostly there is no room at all.
    if (!hasRoom(own.holder)) return false;
    let next: Held | undefined;
    for (const held of this.#alive(nowMs)) {
      const isEarlier = next === undefined || this.#turnOf(held) < this.#turnOf(next);
      if (isEarlier && hasRoom(held.holder)) next = held;
    }
    if (next !== own) return false;
    this.#turns.delete(own.holder);
    this.#turns.set(own.holder, ++this.#lastTurn);
    if (this.#turns.size > KNOWN_HOLDERS) this.#turns.delete(this.#turns.keys().next().value!);
    return true;
  }

  #turnOf({ holder }: Held): number {
    return this.#turns.get(holder) ?? 0;
  }

  #alive(nowMs: number): Held[] {
    for (const [place, { seenAtMs }] of this.#held) if (nowMs - seenAtMs >= this.#bounds.leaseMs) this.leave(place);
    return [...this.#held.values()];
  }
}

/**
 * Heavy questions that this isolate works on. Two of a project: while one computes, the other reads the database, which
 * answers one query at a time. Each holds up to some ten megabytes of an isolate's 128.
 */
const working = new BoundedPlaces({ ofOne: 2, ofAll: 6, leaseMs: 60_000 });
/** Longest wait for a place: a page asks for some twenty plots at once, and each may take a second. */
const WAIT_MS = 15_000;
const POLL_MS = 20;
/** One that has not looked for so long is gone: it must not hold up those behind it. */
const GONE_MS = 5_000;
/** As many as a page asks at once; all hold their parsed questions and a timer only. */
const waiting = new BoundedPlaces({ ofOne: 32, ofAll: 128, leaseMs: GONE_MS });

/** What a heavy question says of its caller. */
interface HeavyCall {
  readonly project: string;
  readonly gone: AbortSignal;
  readonly waitUntil: (work: Promise<unknown>) => void;
}

/**
 * Does heavy work in one of its project's places. Projects take turns, and of each the first that came goes first.
 * Throws `overloaded` where too many wait, or no place gets free in time.
 */
export async function doInPlace<Result>(call: HeavyCall, work: () => Promise<Result>): Promise<Result> {
  const done = waitForPlace(call).then(async (place) => {
    try {
      return await work();
    } finally {
      working.leave(place);
    }
  });
  // A request whose caller has gone ends without a word: its place is held until its work or its wait has ended.
  call.waitUntil(done.catch(() => undefined));
  return done;
}

async function waitForPlace({ project, gone }: HeavyCall): Promise<object> {
  const turn = waiting.enter(project, Date.now());
  if (turn === null) throw tooMany(project);
  const enter = (nowMs: number) => {
    const isNext = waiting.takeTurn(turn, nowMs, (holder) => working.hasRoom(holder, nowMs));
    return isNext ? working.enter(project, nowMs) : null;
  };
  try {
    const place = await untilEntered(enter, gone);
    if (place === null) throw tooMany(project);
    return place;
  } finally {
    waiting.leave(turn);
  }
}

/**
 * Looks for a place until there is one; null where none gets free in time. Each looks by a timer of its own: the
 * promises of one request must not be settled by another.
 */
export async function untilEntered(
  enter: (nowMs: number) => object | null,
  gone?: AbortSignal,
): Promise<object | null> {
  const latestMs = Date.now() + WAIT_MS;
  for (;;) {
    const nowMs = Date.now();
    const place = enter(nowMs);
    if (place !== null || gone?.aborted === true || nowMs >= latestMs) return place;
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
}

function tooMany(project: string): ProblemError {
  const detail = `The project ${project} asks too many heavy questions at once: ask some after the others.`;
  return new ProblemError("overloaded", detail, { retryAfterMs: 1_000 });
}

/** The places of this isolate. */
export const heavyPlaces = { working, waiting } as const;
