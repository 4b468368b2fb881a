import type { Outlook } from "./placement-watch.ts";

/** Outlook with the time to load the model first, which counts as waiting. */
export function addLoading(outlook: Outlook, loadMs: number): Outlook {
  return { ...outlook, queueMs: outlook.queueMs + loadMs };
}

/** A predicted latency and its parts, in milliseconds, as replies report it. */
export interface Prediction {
  readonly latencyMs: number;
  readonly linkMs: number;
  readonly queueMs: number;
  readonly serviceMs: number;
}

/**
 * Upper bound of a request's latency at the outlook's confidence: the quantile of the service, plus that of the time
 * around it, plus the wait.
 * The sum of two quantiles exceeds the quantile of the sum for all but pathological pairs, so the prediction errs
 * towards caution. `spentMs` is the time since the request's arrival; like a cold start it counts with the link. A
 * silence counts with the queue: one of unknown end is expected to last as long again.
 */
export function predictLatency(outlook: Outlook, spentMs: number): Prediction {
  const { serviceMs } = outlook;
  const queueMs = outlook.queueMs + outlook.excessMs + outlook.silentMs;
  const linkMs = spentMs + outlook.linkMs + outlook.coldMs;
  return { latencyMs: linkMs + queueMs + serviceMs, linkMs, queueMs, serviceMs };
}

/**
 * The runner's part of what is left of a budget. Behind a queue it is less by the usual way there and back: a queue fills
 * up under load, and an answer that is ready at the deadline comes too late. What begins at once has room for the way.
 */
export function runnersPartMs({ queueMs, usualLinkMs }: Outlook, leftMs: number): number {
  return queueMs > 0 ? Math.max(0, leftMs - usualLinkMs) : leftMs;
}

/** Predicted latency of a first and only request that has just come, with everything warm. */
export function predictIdleMs({ linkMs, serviceMs }: Outlook): number {
  return linkMs + serviceMs;
}
