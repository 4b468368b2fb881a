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
 * queue's excess and a silence count with the queue: a silence of unknown end is expected to last as long again.
 */
export function predictLatency(outlook: Outlook, spentMs: number): Prediction {
  const { serviceMs } = outlook;
  const queueMs = outlook.queueMs + outlook.excessMs + outlook.silentMs;
  const linkMs = spentMs + outlook.linkMs + outlook.coldMs;
  return { latencyMs: linkMs + queueMs + serviceMs, linkMs, queueMs, serviceMs };
}

/** Queues of at most so many services are short: a probe waits behind them no longer than was predicted. */
const SHORT_QUEUE = 2;

/**
 * Whether only what was learnt of late is in the way of a request, so that a probe may show better: one alone would leave
 * `leftMs`, and neither the queue nor a cold start takes that.
 */
export function isOnlyLearnt({ queueMs, medianServiceMs, coldMs }: Outlook, leftMs: number): boolean {
  return coldMs === 0 && queueMs <= Math.min(leftMs, SHORT_QUEUE * medianServiceMs);
}
