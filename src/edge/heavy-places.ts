import { ProblemError } from "../protocol/wire/problem.ts";
import { BoundedPlaces, type Bounds } from "./bounded-places.ts";

/** Longest wait for a place: a page asks for some twenty plots at once, and each may take a second. */
const WAIT_MS = 15_000;
const POLL_MS = 20;
/** One that has not looked for so long is gone: it must not hold up those behind it. */
const GONE_MS = 5_000;

/** What heavy work says of its caller. */
export interface HeavyCall {
  readonly project: string;
  /** Amount of the place: a count, or bytes; default 1. */
  readonly amount?: number;
  /** Longest wait; default `WAIT_MS`. */
  readonly waitMs?: number;
  readonly gone?: AbortSignal;
  readonly waitUntil: (work: Promise<unknown>) => void;
}

/** Places for work that holds much memory. Projects take turns, and of each the first that came goes first. */
export class HeavyPlaces {
  readonly working: BoundedPlaces;
  readonly waiting: BoundedPlaces;

  readonly #what: string;

  /** `what` names the work in the message of a refusal, in the plural. */
  constructor(what: string, working: Bounds, waiting: Omit<Bounds, "leaseMs">) {
    this.#what = what;
    this.working = new BoundedPlaces(working);
    this.waiting = new BoundedPlaces({ ...waiting, leaseMs: GONE_MS });
  }

  /** Does work in a place. Throws `overloaded` where too many wait, or no place gets free in time. */
  async doIn<Result>(call: HeavyCall, work: () => Promise<Result>): Promise<Result> {
    const done = this.enter(call).then(async (place) => {
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

  /** Waits for a place, which `working` must be left by. Throws `overloaded` as `doIn`. */
  async enter({ project, amount = 1, waitMs, gone }: Omit<HeavyCall, "waitUntil">): Promise<object> {
    let turn = this.waiting.enter(project, Date.now(), 1, amount);
    if (turn === null) throw this.refuse(project);
    const enter = (nowMs: number) => {
      // After a stall of the whole isolate all that waited count as gone.
      if (turn === null || !this.waiting.has(turn)) turn = this.waiting.enter(project, nowMs, 1, amount);
      if (turn === null) return null;
      const hasRoom = (holder: string, wanted: number) => this.working.hasRoom(holder, nowMs, wanted);
      const isNext = this.waiting.takeTurn(turn, nowMs, hasRoom);
      return isNext ? this.working.enter(project, nowMs, amount) : null;
    };
    try {
      const place = await untilEntered(enter, gone, waitMs);
      if (place === null) throw this.refuse(project);
      return place;
    } finally {
      if (turn !== null) this.waiting.leave(turn);
    }
  }

  /** The error of one that finds no place. */
  refuse(project: string): ProblemError {
    const detail = `Too many ${this.#what} of ${project} and others wait: send some after the others.`;
    return new ProblemError("overloaded", detail, { retryAfterMs: 1_000 });
  }
}

/**
 * Looks for a place until there is one; null where none gets free in time. Each looks by a timer of its own: the
 * promises of one request must not be settled by another.
 */
export async function untilEntered(
  enter: (nowMs: number) => object | null,
  gone?: AbortSignal,
  waitMs: number = WAIT_MS,
): Promise<object | null> {
  const latestMs = Date.now() + waitMs;
  for (;;) {
    const nowMs = Date.now();
    const place = enter(nowMs);
    if (place !== null || gone?.aborted === true || nowMs >= latestMs) return place;
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
}

/**
 * Heavy questions of this isolate. Two of a project: while one computes, the other reads the database, which answers one
 * query at a time. Each holds up to some ten megabytes of an isolate's 128. As many wait as a page asks at once; all
 * hold their parsed questions and a timer only.
 */
export const heavyPlaces = new HeavyPlaces(
  "heavy questions",
  { ofOne: 2, ofAll: 6, leaseMs: 60_000 },
  { ofOne: 32, ofAll: 128 },
);
