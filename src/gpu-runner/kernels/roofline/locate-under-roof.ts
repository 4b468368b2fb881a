import type { BenchmarkResult } from "../../../protocol/jobs/benchmark.ts";
import type { Peak, Roofline, RooflinePosition } from "../../../protocol/fleet/roofline.ts";

type Rates = Pick<BenchmarkResult, "dtype" | "gflops" | "gigabytesPerSecond" | "clock">;

/**
 * Position of a benchmark under its device's roofline: min(peak arithmetic, intensity × peak bandwidth). A kernel
 * without operations, or of a type whose arithmetic has no measured peak, is compared with the bandwidth alone.
 * `roofline` is null where there is none, and `missing` gives the reason.
 * Source: Williams, Waterman and Patterson, "Roofline: an insightful visual performance model for multicore
 * architectures", Communications of the ACM, 2009.
 */
export function locateUnderRoof(
  rates: Rates,
  roofline: Roofline | null,
  missing: string | null = null,
): RooflinePosition {
  const { gflops, gigabytesPerSecond } = rates;
  const compute = roofline === null ? null : peakOf(roofline, rates.dtype);
  const memory = roofline === null ? null : highestOf(Object.values(roofline.gigabytesPerSecond));
  const intensity = gflops === null || gigabytesPerSecond === 0 ? null : gflops / gigabytesPerSecond;
  const found = applyRoof(rates, intensity, compute?.value ?? null, memory?.value ?? null);
  const applied = found.bound === "compute" ? compute : memory;
  return {
    ...found,
    arithmeticIntensity: intensity,
    peakGflops: compute?.value ?? null,
    peakGigabytesPerSecond: memory?.value ?? null,
    measuredAt: roofline?.measuredAt ?? null,
    note: explain(rates, found, applied, missing),
  };
}

type Found = Pick<RooflinePosition, "roof" | "unit" | "shareOfRoof" | "bound">;

function applyRoof(
  { gflops, gigabytesPerSecond }: Rates,
  intensity: number | null,
  compute: number | null,
  memory: number | null,
): Found {
  // Without bytes only the flat roof applies. With bytes but no measured bandwidth there is no result.
  if (gflops !== null && compute !== null && (intensity === null || memory !== null)) {
    const slope = intensity === null || memory === null ? Number.POSITIVE_INFINITY : intensity * memory;
    const roof = Math.min(compute, slope);
    const bound = slope < compute ? "memory" : "compute";
    return { roof, unit: "GFLOP/s", shareOfRoof: gflops / roof, bound };
  }
  if (memory === null || gigabytesPerSecond === 0) return { roof: null, unit: "GB/s", shareOfRoof: null, bound: null };
  return { roof: memory, unit: "GB/s", shareOfRoof: gigabytesPerSecond / memory, bound: "memory" };
}

function explain({ gflops, dtype, clock }: Rates, found: Found, applied: Peak | null, missing: string | null) {
  if (applied === null) return missing ?? "The device has no measured peak that this could be held against.";
  if (found.roof === null) return "It neither computes nor moves anything.";
  const notes: string[] = [];
  if (gflops === null) notes.push("It has no arithmetic to count: held against the bandwidth.");
  else if (found.unit === "GB/s")
    notes.push(`Arithmetic in ${dtype} has no measured peak: held against the bandwidth.`);
  if ((found.shareOfRoof ?? 0) > 1) {
    notes.push("Above the roof: its data fit into caches, or the device was busier when the roof was measured.");
  }
  if (clock !== applied.clock) notes.push(`Timed on ${clock}, the roof on ${applied.clock}.`);
  return notes.length === 0 ? null : notes.join(" ");
}

function peakOf({ gflops }: Roofline, dtype: string): Peak | null {
  return dtype in gflops ? gflops[dtype as keyof typeof gflops] : null;
}

function highestOf(peaks: readonly (Peak | null)[]): Peak | null {
  return peaks.reduce((best, peak) => (peak !== null && peak.value > (best?.value ?? 0) ? peak : best), null);
}
