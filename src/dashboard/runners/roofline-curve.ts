import type { Roofline, RooflinePosition } from "../../protocol/roofline.ts";

/** What is drawn over one axis of intensities: the roof everywhere, and a rate where a benchmark stands. */
export interface RooflineCurve {
  readonly peakGflops: number;
  readonly peakGigabytesPerSecond: number;
  /** Operations per byte, ascending. */
  readonly intensities: readonly number[];
  readonly roof: readonly number[];
  readonly rates: readonly (number | null)[];
}

/** A tenth of the ridge's intensity and ten times it are shown in any case. */
const MARGIN = 10;

/** The f32 roof of a device with its benchmarks; null where it has no such roof. */
export function drawRoofline(roofline: Roofline, positions: readonly RooflinePosition[]): RooflineCurve | null {
  const peakGflops = roofline.gflops.float32?.value;
  const bandwidths = Object.values(roofline.gigabytesPerSecond).flatMap((peak) => (peak === null ? [] : [peak.value]));
  if (peakGflops === undefined || bandwidths.length === 0) return null;
  const peakGigabytesPerSecond = Math.max(...bandwidths);
  const ridge = peakGflops / peakGigabytesPerSecond;
  const rates = new Map<number, number>();
  for (const { arithmeticIntensity, shareOfRoof, roof, unit, measuredAt, peakGflops: peak } of positions) {
    // Of these roofs, and of the arithmetic that is drawn.
    if (measuredAt !== roofline.measuredAt || peak !== peakGflops || unit !== "GFLOP/s") continue;
    if (arithmeticIntensity === null || shareOfRoof === null || roof === null) continue;
    rates.set(arithmeticIntensity, Math.max(shareOfRoof * roof, rates.get(arithmeticIntensity) ?? 0));
  }
  const measured = [...rates.keys()];
  const ends = [Math.min(ridge, ...measured) / MARGIN, ridge, Math.max(ridge, ...measured) * MARGIN];
  const intensities = [...new Set([...ends, ...measured])].toSorted((a, b) => a - b);
  return {
    peakGflops,
    peakGigabytesPerSecond,
    intensities,
    roof: intensities.map((intensity) => Math.min(peakGflops, intensity * peakGigabytesPerSecond)),
    rates: intensities.map((intensity) => rates.get(intensity) ?? null),
  };
}
