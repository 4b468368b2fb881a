import type { SweepStep } from "../../protocol/model.ts";
import type { LivePlacement } from "../store/live-placement-store.ts";
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
