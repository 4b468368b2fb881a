import type { Placement } from "../../protocol/model.ts";
import { type Aggregate, aggregateQuantile } from "../../stats/distribution.ts";

/** What was measured of a placement when it was calibrated, in milliseconds. */
export type MeasuredPlacement = Pick<Placement, "sweep" | "linkMs">;

/** A predicted latency and what it is made of, in milliseconds. */
export interface Prediction {
  readonly latencyMs: number;
  readonly linkMs: number;
  readonly queueMs: number;
  readonly serviceMs: number;
}

/**
 * The latency that a request stays under with this confidence: the quantile of the service plus the
 * quantile of what lies around it. The sum of two quantiles lies above the quantile of the sum for
 * all but pathological pairs, so the prediction errs towards caution. `aroundMs` (edge and link as
 * seen by recent requests) stands in for the calibrated link once it is known.
 */
export function predictLatency(
  { sweep, linkMs: calibratedMs }: MeasuredPlacement,
  aroundMs: Aggregate | null,
  confidence: number,
): Prediction {
  const linkMs = cachedQuantile(aroundMs ?? calibratedMs, confidence);
  const serviceMs = sweep[0] === undefined ? 0 : cachedQuantile(sweep[0].serviceMs, confidence);
  return { latencyMs: linkMs + serviceMs, linkMs, queueMs: 0, serviceMs };
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
