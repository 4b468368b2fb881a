import { type Aggregate, aggregateQuantile } from "../../stats/distribution.ts";

/** What was measured of a placement when it was calibrated, in milliseconds. */
export interface MeasuredPlacement {
  readonly serviceMs: Aggregate;
  readonly linkMs: Aggregate;
}

/**
 * The latency that a request stays under with this confidence: the quantile of the service plus the
 * quantile of what lies around it. The sum of two quantiles lies above the quantile of the sum for
 * all but pathological pairs, so the prediction errs towards caution. `aroundMs` (edge and link as
 * seen by recent requests) stands in for the calibrated link once it is known.
 */
export function predictLatencyMs(placement: MeasuredPlacement, aroundMs: Aggregate | null, confidence: number): number {
  const around = aroundMs ?? placement.linkMs;
  return aggregateQuantile(placement.serviceMs, confidence) + aggregateQuantile(around, confidence);
}
