import type { LivePlacement } from "../store/placement-store.ts";
import type { Outlook } from "./placement-watch.ts";

/**
 * Placements as they stand for a request of so many rows. The edge computes it alone and row by row: its sweep
 * begins at the first step that holds them, and it is left out where none does.
 */
export function fitEdge(placements: readonly LivePlacement[], rows: number): LivePlacement[] {
  return placements.flatMap((placement) => {
    if (placement.backend !== "edge-wasm" || rows <= 1) return [placement];
    const sweep = placement.sweep.filter((step) => step.rows >= rows);
    return sweep.length === 0 ? [] : [{ ...placement, sweep }];
  });
}

/** An outlook for what must be loaded first, which counts as waiting. */
export function addLoading(outlook: Outlook, loadMs: number): Outlook {
  return { ...outlook, queueMs: outlook.queueMs + loadMs };
}
