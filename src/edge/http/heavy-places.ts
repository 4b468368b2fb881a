import { ProblemError } from "../../protocol/wire/problem.ts";
import { BoundedPlaces } from "./bounded-places.ts";

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
