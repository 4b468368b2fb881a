/** Time since then by the platform's clock. That may be set back meanwhile: less than none has never passed. */
export function elapsedMs(sinceMs: number): number {
  return Math.max(0, Date.now() - sinceMs);
}

/** How old what was read then is. What lies ahead was read before the clock was set back, nobody knows when. */
export function ageMs(readAtMs: number): number {
  const ms = Date.now() - readAtMs;
  return ms < 0 ? Number.POSITIVE_INFINITY : ms;
}
