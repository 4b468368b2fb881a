/** Time since then by the platform's clock. That may be set back meanwhile: less than none has never passed. */
export function elapsedMs(sinceMs: number): number {
  return Math.max(0, Date.now() - sinceMs);
}

/** How old what was read then is. What lies ahead was read before the clock was set back, nobody knows when. */
export function ageMs(readAtMs: number): number {
  const ms = Date.now() - readAtMs;
  return ms < 0 ? Number.POSITIVE_INFINITY : ms;
}

/** What a work comes to within so many milliseconds, else null. No timer stays behind it: a context holds few. */
export async function untilDeadline<Value>(leftMs: number, work: Promise<Value>): Promise<Value | null> {
  const { promise: late, resolve } = Promise.withResolvers<null>();
  const timer = setTimeout(resolve, leftMs, null);
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
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

/** Sets the alarm, unless it rings sooner anyway; an infinite time needs none. */
export async function armBy(alarm: Alarm, atMs: number, nowMs: number): Promise<void> {
  const armedMs = await alarm.getAlarm();
  if (Number.isFinite(atMs) && (armedMs === null || armedMs > atMs || armedMs <= nowMs)) await alarm.setAlarm(atMs);
}
