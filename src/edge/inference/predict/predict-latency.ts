import type { SweepStep } from "../../../protocol/models/model.ts";
import type { LivePlacement } from "../../store/fleet/live-placement-store.ts";
import type { Outlook } from "./placement-watch.ts";

/**
 * Placements for a request of so many rows. The edge computes a request alone and row by row: its sweep begins at the
 * first step that holds the rows.
 * It is left out where no step does.
 */
export function fitEdge(placements: readonly LivePlacement[], rows: number): LivePlacement[] {
  return placements.flatMap((placement) => {
    if (placement.backend !== "edge-wasm" || rows <= 1) return [placement];
    const sweep = sweepFrom(placement.sweep, rows);
    return sweep === null ? [] : [{ ...placement, sweep }];
  });
}

/** Rests of sweeps by their first step, since caches of a sweep use the array as their key. */
const rests = new WeakMap<SweepStep, SweepStep[]>();

/** The steps from the first one that holds the rows; the same array each time, and null where none does. */
function sweepFrom(sweep: SweepStep[], rows: number): SweepStep[] | null {
  const at = sweep.findIndex((step) => step.rows >= rows);
  const first = sweep[at];
  if (first === undefined) return null;
  const rest = rests.get(first) ?? sweep.slice(at);
  rests.set(first, rest);
  return rest;
}

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
 * towards caution. `spentMs` is the time since the request's arrival; like a cold start it counts with the link.
 */
export function predictLatency(outlook: Outlook, spentMs: number): Prediction {
  const { queueMs, serviceMs } = outlook;
  const linkMs = spentMs + outlook.linkMs + outlook.coldMs;
  return { latencyMs: linkMs + queueMs + serviceMs, linkMs, queueMs, serviceMs };
}

/** The same for a first and only request that has just come, with everything warm. */
export function predictIdleMs({ linkMs, serviceMs }: Outlook): number {
  return linkMs + serviceMs;
}
