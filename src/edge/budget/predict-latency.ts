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
  return cachedQuantile(placement.serviceMs, confidence) + cachedQuantile(around, confidence);
}

const CACHED_CONFIDENCES = 32;
/** Quantiles that were asked for, while their aggregate lives: decoding a sketch costs more than a request may. */
const quantiles = new WeakMap<Aggregate, Map<number, number>>();

function cachedQuantile(aggregate: Aggregate, confidence: number): number {
  const known = quantiles.get(aggregate) ?? new Map<number, number>();
  quantiles.set(aggregate, known);
  const cached = known.get(confidence);
  if (cached !== undefined) return cached;
  if (known.size >= CACHED_CONFIDENCES) known.clear();
  const value = aggregateQuantile(aggregate, confidence);
  known.set(confidence, value);
  return value;
}
