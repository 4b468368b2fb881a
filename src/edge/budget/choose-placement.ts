import type { LivePlacement } from "../store/placement-store.ts";
import type { Prediction } from "./predict-latency.ts";

/** A placement with its predicted latency at the confidence that was asked for. */
export interface Candidate {
  readonly placement: LivePlacement;
  readonly prediction: Prediction;
}

export type Choice =
  | { readonly kind: "admitted"; readonly candidate: Candidate }
  | { readonly kind: "unattainable"; readonly nearest: Candidate }
  | { readonly kind: "offline" }
  | { readonly kind: "none" };

/**
 * Picks where a request runs: of the placements that are online and predicted to fit the budget, the
 * one of highest fidelity, then the fastest. Where none fits, the fastest one tells what would.
 */
export function choosePlacement(
  placements: readonly LivePlacement[],
  budgetMs: number,
  predict: (placement: LivePlacement) => Prediction,
): Choice {
  if (placements.length === 0) return { kind: "none" };
  const candidates = placements
    .filter((placement) => placement.online && !placement.draining)
    .map((placement) => ({ placement, prediction: predict(placement) }))
    .toSorted((a, b) => a.prediction.latencyMs - b.prediction.latencyMs);
  const [nearest] = candidates;
  if (nearest === undefined) return { kind: "offline" };
  const [best] = candidates
    .filter(({ prediction }) => prediction.latencyMs <= budgetMs)
    .toSorted((a, b) => (b.placement.fidelity ?? 0) - (a.placement.fidelity ?? 0));
  return best === undefined ? { kind: "unattainable", nearest } : { kind: "admitted", candidate: best };
}
