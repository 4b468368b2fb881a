import { describe, expect, it } from "vitest";
import { locateUnderRoof } from "../../../../src/gpu-runner/kernels/roofline/locate-under-roof.ts";
import type { Peak, Roofline } from "../../../../src/protocol/fleet/roofline.ts";

const peak = (value: number): Peak => ({
  value,
  kernel: "sample",
  variant: "plain",
  axes: {},
  shape: { n: 1 },
  clock: "gpu-timestamp",
  rounds: 5,
  min: value,
  max: value,
});

/** The ridge lies at 1,000 ÷ 50 = 20 operations a byte. */
const roofline: Roofline = {
  measuredAt: "2026-11-21T09:30:00.000Z",
  tookMs: 1,
  loadAverage: 0,
  gflops: { float32: peak(1_000), float16: null, int8: peak(4_000) },
  gigabytesPerSecond: { triad: peak(40), copy: peak(50), read: null },
  missing: {},
};

const locate = (gflops: number | null, gigabytesPerSecond: number, changes: object = {}) =>
  locateUnderRoof({ dtype: "float32", clock: "gpu-timestamp", gflops, gigabytesPerSecond, ...changes }, roofline);

describe("the place under the roof", () => {
  it("is bound by memory left of the ridge, at intensity × the highest bandwidth", () => {
    expect(locate(20, 10)).toEqual({
      arithmeticIntensity: 2,
      roof: 100,
      unit: "GFLOP/s",
      shareOfRoof: 0.2,
      bound: "memory",
      peakGflops: 1_000,
      peakGigabytesPerSecond: 50,
      measuredAt: roofline.measuredAt,
      note: null,
    });
  });

  it("is bound by arithmetic from the ridge on", () => {
    expect(locate(500, 25)).toMatchObject({ arithmeticIntensity: 20, roof: 1_000, bound: "compute", shareOfRoof: 0.5 });
    expect(locate(500, 5)).toMatchObject({ arithmeticIntensity: 100, roof: 1_000, bound: "compute" });
    expect(locate(500, 25.1)).toMatchObject({ bound: "memory" });
  });

  it("takes the peak of the type", () => {
    expect(locate(2_000, 4, { dtype: "int8" })).toMatchObject({ roof: 4_000, peakGflops: 4_000, shareOfRoof: 0.5 });
  });

  it("is taken against the bandwidth where no arithmetic is counted or none can be compared", () => {
    const moved = { roof: 50, unit: "GB/s", shareOfRoof: 0.5, bound: "memory" };
    expect(locate(null, 25)).toMatchObject({
      ...moved,
      arithmeticIntensity: null,
      note: expect.stringContaining("no arithmetic"),
    });
    expect(locate(10, 25, { dtype: "int32" })).toMatchObject({
      ...moved,
      arithmeticIntensity: 0.4,
      note: expect.stringContaining("int32"),
    });
    expect(locate(10, 25, { dtype: "float16" })).toMatchObject({ ...moved, note: expect.stringContaining("float16") });
  });

  it("is under the flat roof where nothing is moved", () => {
    expect(locate(500, 0)).toMatchObject({
      arithmeticIntensity: null,
      roof: 1_000,
      bound: "compute",
      shareOfRoof: 0.5,
    });
  });

  it("may be above the roof, and says why that can be", () => {
    expect(locate(null, 75)).toMatchObject({ shareOfRoof: 1.5, note: expect.stringContaining("caches") });
  });

  it("says so where the clocks differ", () => {
    const { note } = locate(20, 10, { clock: "runner-wall" });
    expect(note).toContain("Timed on runner-wall, the roof on gpu-timestamp");
  });

  it("is null with the reason where it cannot be said", () => {
    const nothing = { roof: null, shareOfRoof: null, bound: null };
    expect(locate(null, 0)).toMatchObject({ ...nothing, note: expect.any(String) });
    const rates = { dtype: "float32", clock: "gpu-timestamp", gflops: 20, gigabytesPerSecond: 10 } as const;
    expect(locateUnderRoof(rates, null, "It hung.")).toMatchObject({
      ...nothing,
      arithmeticIntensity: 2,
      note: "It hung.",
    });
    const noBandwidth = { ...roofline, gigabytesPerSecond: { triad: null, copy: null, read: null } };
    expect(locateUnderRoof(rates, noBandwidth)).toMatchObject({ ...nothing, note: expect.any(String) });
  });
});
