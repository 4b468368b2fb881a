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
 * The duration that is not exceeded with this confidence, from `prior` on. A pause of a moment holds up
 * all requests that are under way: it is more than one in a hundred of the last seconds, and less than that
 * of the last minute. What has become slower is soon more than that of both; what is fast again, of
 * neither after some seconds. So for rare times the lower of the two counts, else the short one.
 */
export function timeQuantile({ short, long }: RecentTimes, prior: Sketch, confidence: number, nowMs: number): number {
  const shortMs = windowQuantile(short, prior, confidence, nowMs);
  return confidence < RARE ? shortMs : Math.min(shortMs, windowQuantile(long, prior, confidence, nowMs));
}
