/** A beginning and an end, in milliseconds of the epoch. */
export interface Span {
  readonly fromMs: number;
  readonly toMs: number;
}

/**
 * Time of a span within pauses, which are sorted by start; those of different heaps may overlap, and are counted once.
 */
export function overlapMs({ fromMs, toMs }: Span, pauses: readonly Span[]): number {
  let sumMs = 0;
  let coveredToMs = fromMs;
  for (const pause of pauses) {
    const startMs = Math.max(pause.fromMs, coveredToMs);
    const endMs = Math.min(pause.toMs, toMs);
    if (endMs <= startMs) continue;
    sumMs += endMs - startMs;
    coveredToMs = endMs;
  }
  return sumMs;
}
