import type { Outlook } from "./placement-watch.ts";

/** A predicted latency and what it is made of, in milliseconds, as replies tell it. */
export interface Prediction {
  readonly latencyMs: number;
  readonly linkMs: number;
  readonly queueMs: number;
  readonly serviceMs: number;
}

/**
 * The latency that a request stays under at the confidence of the outlook: the quantile of the service
 * plus the quantile of what lies around it, plus what waits before it. The sum of two quantiles lies above
 * the quantile of the sum for all but pathological pairs, so the prediction errs towards caution.
 * `spentMs` has passed since the request's arrival; like a cold start it counts with the way.
 */
export function predictLatency(outlook: Outlook, spentMs: number): Prediction {
  const { queueMs, serviceMs } = outlook;
  const linkMs = spentMs + outlook.linkMs + outlook.coldMs;
  return { latencyMs: linkMs + queueMs + serviceMs, linkMs, queueMs, serviceMs };
}

/** The same if the request were the first and only one, had just come, and everything were warm. */
export function predictIdleMs({ linkMs, serviceMs }: Outlook): number {
  return linkMs + serviceMs;
}
