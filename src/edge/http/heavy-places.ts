import { ProblemError } from "../../protocol/wire/problem.ts";

interface Held {
  readonly holder: string;
  readonly sinceMs: number;
}

interface Bounds {
  /** Places of one holder. */
  readonly ofOne: number;
  readonly ofAll: number;
  /** Time after which a place counts as left: the platform may end a request without a word. */
  readonly leaseMs: number;
}

/** Places with a bound for each holder and one for all, in the order in which they were taken. */
export class BoundedPlaces {
  readonly #bounds: Bounds;
  readonly #held = new Map<object, Held>();

  constructor(bounds: Bounds) {
    this.#bounds = bounds;
  }

  /** A place, which must be left; null where the holder or all have too many. */
  enter(holder: string, nowMs: number): object | null {
    const those = this.#alive(nowMs);
    const own = those.filter((held) => held.holder === holder);
    if (those.length >= this.#bounds.ofAll || own.length >= this.#bounds.ofOne) return null;
    const place = {};
    this.#held.set(place, { holder, sinceMs: nowMs });
    return place;
  }

  leave(place: object): void {
    this.#held.delete(place);
  }

  /** Whether none of the same holder was taken before this one. */
  isFirst(place: object, nowMs: number): boolean {
    const own = this.#held.get(place);
    return own !== undefined && this.#alive(nowMs).find(({ holder }) => holder === own.holder) === own;
  }

  #alive(nowMs: number): Held[] {
    for (const [place, { sinceMs }] of this.#held) {
      if (nowMs - sinceMs >= this.#bounds.leaseMs) this.#held.delete(place);
    }
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
/** As many as a page asks at once; all hold their parsed questions and a timer only. */
const waiting = new BoundedPlaces({ ofOne: 32, ofAll: 128, leaseMs: 2 * WAIT_MS });

/** What a heavy question says of its caller. */
interface HeavyCall {
  readonly project: string;
  readonly gone: AbortSignal;
  readonly waitUntil: (work: Promise<unknown>) => void;
}

/**
 * Does heavy work in one of its project's places, the first that came first. Throws `overloaded` where too many wait, or
 * no place gets free in time.
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
  const latestMs = Date.now() + WAIT_MS;
  try {
    for (;;) {
      const nowMs = Date.now();
      const place = waiting.isFirst(turn, nowMs) ? working.enter(project, nowMs) : null;
      if (place !== null) return place;
      if (gone.aborted || nowMs >= latestMs) throw tooMany(project);
      await new Promise((resolve) => setTimeout(resolve, POLL_MS));
    }
  } finally {
    waiting.leave(turn);
  }
}

function tooMany(project: string): ProblemError {
  const detail = `The project ${project} asks too many heavy questions at once: ask some after the others.`;
  return new ProblemError("overloaded", detail, { retryAfterMs: 1_000 });
}

/** The places of this isolate. */
export const heavyPlaces = { working, waiting } as const;
