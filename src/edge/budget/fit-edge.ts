import type { TensorSpec } from "../../protocol/model.ts";
import type { TensorHeader } from "../../protocol/tensor.ts";
import type { LivePlacement } from "../store/placement-store.ts";
import type { Prediction } from "./predict-latency.ts";

/** Rows of a request: the size of the first axis where that is free, else the request is one. */
export function countRows([spec]: readonly TensorSpec[], [tensor]: readonly TensorHeader[]): number {
  return spec?.shape[0] === -1 ? (tensor?.shape[0] ?? 1) : 1;
}

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

/** A prediction for what must be loaded first, which counts as waiting. */
export function addColdStart(prediction: Prediction, loadMs: number): Prediction {
  if (loadMs === 0) return prediction;
  const { latencyMs, queueMs } = prediction;
  return { ...prediction, latencyMs: latencyMs + loadMs, queueMs: queueMs + loadMs };
}
