/** Time since then by the platform's clock; never negative, since the clock may have been set back meanwhile. */
export function elapsedMs(sinceMs: number): number {
  return Math.max(0, Date.now() - sinceMs);
}

/**
 * Age of something read then. Infinite for a time in the future: the clock was set back since, and the age is unknown.
 */
export function ageMs(readAtMs: number): number {
  const ms = Date.now() - readAtMs;
  return ms < 0 ? Number.POSITIVE_INFINITY : ms;
}

/** Microtasks after which work counts as waiting for I/O: to await them costs less than a timer. */
const SOON_STEPS = 16;
const PENDING = Symbol("pending");

/** Result of work that ends without I/O; else `PENDING`. */
async function soon<Value>(work: Promise<Value>): Promise<Value | typeof PENDING> {
  const state = { isOver: false };
  const end = () => {
    state.isOver = true;
  };
  work.then(end, end);
  for (let step = 0; step < SOON_STEPS && !state.isOver; step++) await Promise.resolve();
  return state.isOver ? work : PENDING;
}

/**
 * Result of a work within so many milliseconds and before the signal is aborted, else null. It leaves no timer behind: a
 * context may hold only a few.
 */
export async function untilDeadline<Value>(
  leftMs: number,
  work: Promise<Value>,
  signal?: AbortSignal,
): Promise<Value | null> {
  const early = await soon(work);
  if (early !== PENDING) return early;
  const { promise: late, resolve } = Promise.withResolvers<null>();
  const end = () => resolve(null);
  const timer = setTimeout(end, leftMs);
  if (signal?.aborted) end();
  signal?.addEventListener("abort", end, { once: true });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener("abort", end);
  }
}

/** Stored milliseconds as the wire's instant. */
export function toInstant(ms: number): string {
  return new Date(ms).toISOString();
}

export function toInstantOrNull(ms: number | null): string | null {
  return ms === null ? null : toInstant(ms);
}

/** The one alarm of a Durable Object; setting it replaces the one before. */
export interface Alarm {
  getAlarm(): Promise<number | null>;
  setAlarm(atMs: number): Promise<void>;
}

/** An alarm that is overdue for so long counts as lost. */
const LOST_AFTER_MS = 5_000;

/**
 * Sets the alarm, unless one is set for an earlier time; an infinite time needs none. One that is due but has not rung
 * stays as it is: to set it again on each request would put it off for ever.
 */
export async function armBy(alarm: Alarm, atMs: number, nowMs: number): Promise<void> {
  const armedMs = await alarm.getAlarm();
  const isMissing = armedMs === null || armedMs > atMs || nowMs - armedMs >= LOST_AFTER_MS;
  if (Number.isFinite(atMs) && isMissing) await alarm.setAlarm(atMs);
}
