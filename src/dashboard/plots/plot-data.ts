import type { Roofline, RooflinePosition } from "../../protocol/fleet/roofline.ts";

/** A bin of a histogram: values from `from` on, up to `to`, which only the last one holds itself. */
export interface Bin {
  readonly from: number;
  readonly to: number;
  readonly count: number;
}

/** Counts values in bins of one width from the least to the largest; one bin where all are the same, none of none. */
export function countBins(values: readonly number[], most: number): Bin[] {
  if (values.length === 0) return [];
  const low = values.reduce((least, value) => Math.min(least, value));
  const high = values.reduce((largest, value) => Math.max(largest, value));
  if (low === high) return [{ from: low, to: high, count: values.length }];
  const counts = Array.from({ length: Math.min(most, values.length) }, () => 0);
  const width = (high - low) / counts.length;
  for (const value of values) {
    const place = Math.min(counts.length - 1, Math.floor((value - low) / width));
    counts[place] = (counts[place] ?? 0) + 1;
  }
  return counts.map((count, place) => ({ from: low + place * width, to: low + (place + 1) * width, count }));
}

/** Room on either side of what is drawn, as a factor. */
const ROOM = 1.5;
/** Factor that is drawn below the highest value where the lowest is not positive and so has no logarithm. */
const DEPTH = 1_000;

/**
 * The ends of a logarithmic axis around its values. The lower one has one significant digit: uPlot's
 * ticks never end from one of .95 to 1 times a power of ten below one.
 */
export function logRange(min: number | null, max: number | null): [number, number] {
  const highest = max !== null && max > 0 ? max : 1;
  const lowest = min !== null && min > 0 ? min : highest / DEPTH;
  return [Number((lowest / ROOM).toPrecision(1)), highest * ROOM];
}

/** Curves over one axis of intensities: the roof everywhere, and a rate at each benchmark. */
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
