import type { OptimisationTargets, OptimisationTrial } from "../../protocol/optimisation.ts";

/** What one candidate came to; null where it is not measured of such a subject. */
export interface Measured {
  readonly throughputPerS: number;
  /** At the percentile of the targets. */
  readonly latencyMs: number;
  readonly memoryBytes: number | null;
  readonly fidelity: number | null;
}

export type Miss = OptimisationTrial["misses"][number];

/** The targets that something misses, the worst first. What was not measured misses nothing. */
export function judgeMeasurement(measured: Measured, targets: OptimisationTargets): Miss[] {
  const { throughputPerS, latencyMs, memoryBytes, fidelity } = measured;
  return [
    judge("latencyMs", latencyMs, targets.latencyMs, "below"),
    judge("throughputPerS", throughputPerS, targets.throughputPerS, "above"),
    judge("memoryBytes", memoryBytes, targets.memoryBytes, "below"),
    judge("minFidelity", fidelity, targets.minFidelity, "above"),
  ]
    .filter((miss) => miss !== null)
    .toSorted((a, b) => b.factor - a.factor);
}

/** How far it is from all targets: the worst factor, 1 where none is missed. */
export function worstFactor(misses: readonly Miss[]): number {
  return Math.max(1, ...misses.map(({ factor }) => factor));
}

function judge(
  target: Miss["target"],
  found: number | null,
  wanted: number | undefined,
  side: "below" | "above",
): Miss | null {
  if (found === null || wanted === undefined) return null;
  const factor = side === "below" ? found / wanted : wanted / found;
  // Nothing at all is as far off as a number can be.
  return factor > 1 ? { target, wanted, found, factor: Math.min(factor, Number.MAX_VALUE) } : null;
}
