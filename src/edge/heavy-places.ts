import { ProblemError } from "../protocol/wire/problem.ts";
import { BoundedPlaces, type Bounds } from "./bounded-places.ts";

/** Longest wait for a place: a page asks for some twenty plots at once, and each may take a second. */
const WAIT_MS = 15_000;
const POLL_MS = 20;
/** One that has not looked for so long is gone: it must not hold up those behind it. */
const GONE_MS = 5_000;

/** What heavy work says of its caller. */
interface HeavyCall {
  readonly project: string;
  readonly gone?: AbortSignal;
  readonly waitUntil: (work: Promise<unknown>) => void;
}

/** Places for work that holds much memory. Projects take turns, and of each the first that came goes first. */
export class HeavyPlaces {
  readonly working: BoundedPlaces;
  readonly waiting: BoundedPlaces;

  constructor(working: Bounds, waiting: Omit<Bounds, "leaseMs">) {
    this.working = new BoundedPlaces(working);
    this.waiting = new BoundedPlaces({ ...waiting, leaseMs: GONE_MS });
  }

  /** Does work in a place. Throws `overloaded` where too many wait, or no place gets free in time. */
  async doIn<Result>(call: HeavyCall, work: () => Promise<Result>): Promise<Result> {
    const done = this.#waitFor(call).then(async (place) => {
      try {
        return await work();
      } finally {
        this.working.leave(place);
      }
    });
    // A request whose caller has gone ends without a word: its place is held until its work or its wait has ended.
    call.waitUntil(done.catch(() => undefined));
    return done;
  }

  async #waitFor({ project, gone }: HeavyCall): Promise<object> {
    let turn = this.waiting.enter(project, Date.now());
    if (turn === null) throw tooMany(project);
    const enter = (nowMs: number) => {
      // After a stall of the whole isolate all that waited count as gone.
      if (turn === null || !this.waiting.has(turn)) turn = this.waiting.enter(project, nowMs);
      if (turn === null) return null;
      const isNext = this.waiting.takeTurn(turn, nowMs, (holder) => this.working.hasRoom(holder, nowMs));
      return isNext ? this.working.enter(project, nowMs) : null;
    };
    try {
      const place = await untilEntered(enter, gone);
      if (place === null) throw tooMany(project);
      return place;
    } finally {
      if (turn !== null) this.waiting.leave(turn);
    }
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
  const detail = `Too many heavy questions of ${project} and others wait: ask some after the others.`;
  return new ProblemError("overloaded", detail, { retryAfterMs: 1_000 });
}

/**
 * Heavy questions of this isolate. Two of a project: while one computes, the other reads the database, which answers one
 * query at a time. Each holds up to some ten megabytes of an isolate's 128. As many wait as a page asks at once; all
 * hold their parsed questions and a timer only.
 */
export const heavyPlaces = new HeavyPlaces({ ofOne: 2, ofAll: 6, leaseMs: 60_000 }, { ofOne: 32, ofAll: 128 });
