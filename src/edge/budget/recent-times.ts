import type { Sketch } from "../../stats/sketch.ts";
import { createWindow, fadeWindow, noteSample, type SlidingWindow, windowQuantile } from "./sliding-window.ts";

/** One duration as it was lately, seen twice: a short window follows what changed, a long one knows what is rare. */
export interface RecentTimes {
  readonly short: SlidingWindow;
  readonly long: SlidingWindow;
}

const SHORT_HALF_LIFE_MS = 3_000;
const LONG_HALF_LIFE_MS = 60_000;
/** From this confidence on a few seconds do not hold enough to tell. */
const RARE = 0.95;

export function createTimes(): RecentTimes {
  return { short: createWindow(SHORT_HALF_LIFE_MS), long: createWindow(LONG_HALF_LIFE_MS) };
}

export function noteTime({ short, long }: RecentTimes, durationMs: number, nowMs: number): void {
  noteSample(short, durationMs, nowMs);
  noteSample(long, durationMs, nowMs);
}

/** Takes a share of the weight of everything that was seen. */
export function fadeTimes({ short, long }: RecentTimes, share: number): void {
  fadeWindow(short, share);
  fadeWindow(long, share);
}

/**
 * The duration that is not exceeded with this confidence, from `prior` on. From 0.95 on the long window
 * tells: a pause of a moment holds up all requests that are under way, which is more than one in a hundred of
 * the last seconds and less than that of the last minute, unless it comes again; and what has become slower
 * is soon more than that of either. Below, the short one does, since half of a minute is long to wait for.
 */
export function timeQuantile({ short, long }: RecentTimes, prior: Sketch, confidence: number, nowMs: number): number {
  return windowQuantile(confidence < RARE ? short : long, prior, confidence, nowMs);
}
