import type { SweepStep } from "../../../protocol/models/model.ts";
import type { LivePlacement } from "../../store/fleet/live-placement-store.ts";
import type { Outlook } from "./placement-watch.ts";

/**
 * Placements as they stand for a request of so many rows. The edge computes it alone and row by row: its sweep
 * begins at the first step that holds them, and it is left out where none does.
 */
export function fitEdge(placements: readonly LivePlacement[], rows: number): LivePlacement[] {
  return placements.flatMap((placement) => {
    if (placement.backend !== "edge-wasm" || rows <= 1) return [placement];
    const sweep = sweepFrom(placement.sweep, rows);
    return sweep === null ? [] : [{ ...placement, sweep }];
  });
}

/** Rests of sweeps by their first step: what is known of a sweep is found by the array. */
const rests = new WeakMap<SweepStep, SweepStep[]>();

/** The steps from the first on that holds the rows; the same array each time, and null where none does. */
function sweepFrom(sweep: SweepStep[], rows: number): SweepStep[] | null {
  const at = sweep.findIndex((step) => step.rows >= rows);
  const first = sweep[at];
  if (first === undefined) return null;
  const rest = rests.get(first) ?? sweep.slice(at);
  rests.set(first, rest);
  return rest;
}

/** An outlook for what must be loaded first, which counts as waiting. */
export function addLoading(outlook: Outlook, loadMs: number): Outlook {
  return { ...outlook, queueMs: outlook.queueMs + loadMs };
}

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
