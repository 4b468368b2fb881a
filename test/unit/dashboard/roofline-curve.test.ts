import { describe, expect, it } from "vitest";
import { drawRoofline } from "../../../src/dashboard/plots/plot-data.ts";
import type { Peak, Roofline, RooflinePosition } from "../../../src/protocol/fleet/roofline.ts";

const peak = (value: number): Peak => ({
  value,
  kernel: "sample",
  variant: "plain",
  axes: {},
  shape: { n: 1 },
  clock: "runner-wall",
  rounds: 1,
  min: value,
  max: value,
});
const roofline: Roofline = {
  measuredAt: "2026-11-21T09:30:00.000Z",
  tookMs: 1,
  loadAverage: 0,
  gflops: { float32: peak(1_000), float16: null, int8: null },
  gigabytesPerSecond: { triad: peak(40), copy: peak(50), read: null },
  missing: {},
};
const position = (intensity: number, share: number, changes: Partial<RooflinePosition> = {}): RooflinePosition => ({
  arithmeticIntensity: intensity,
  roof: Math.min(1_000, 50 * intensity),
  unit: "GFLOP/s",
  shareOfRoof: share,
  bound: "memory",
  peakGflops: 1_000,
  peakGigabytesPerSecond: 50,
  measuredAt: roofline.measuredAt,
  note: null,
  ...changes,
});

describe("the curve of a roofline", () => {
  it("bends where the roofs meet, and reaches beyond every benchmark", () => {
    const curve = drawRoofline(roofline, [position(2, 0.5), position(100, 0.25), position(2, 0.4)]);
    expect(curve?.intensities).toEqual([0.2, 2, 20, 100, 1_000]);
    expect(curve?.roof).toEqual([10, 100, 1_000, 1_000, 1_000]);
    // Of two at one intensity, the faster is drawn.
    expect(curve?.rates).toEqual([null, 50, null, 250, null]);
  });

  it("leaves out what stands under other roofs, other arithmetic or none", () => {
    const others = [
      position(2, 0.5, { measuredAt: "2026-11-20T09:30:00.000Z" }),
      position(2, 0.5, { peakGflops: 4_000 }),
      position(2, 0.5, { unit: "GB/s" }),
      position(2, 0.5, { shareOfRoof: null }),
    ];
    expect(drawRoofline(roofline, others)?.rates).toEqual([null, null, null]);
  });

  it("is none where a roof is missing", () => {
    expect(drawRoofline({ ...roofline, gflops: { ...roofline.gflops, float32: null } }, [])).toBeNull();
    const nothing = { triad: null, copy: null, read: null };
    expect(drawRoofline({ ...roofline, gigabytesPerSecond: nothing }, [])).toBeNull();
  });
});
