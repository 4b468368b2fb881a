import { describe, expect, it } from "vitest";
import { judgeGrowth, type TimedValue } from "../../../bench/soak/judge-growth.ts";
import { lehmer } from "../../../src/stats/random/seeded.ts";

/** A sample every five seconds of half an hour. */
function sample(valueAt: (atS: number) => number): TimedValue[] {
  return Array.from({ length: 360 }, (_, index) => [index * 5, valueAt(index * 5)]);
}

describe("growth over a soak", () => {
  it("is found in a leak of a tenth an hour, and has its slope", () => {
    const draw = lehmer();
    const leak = judgeGrowth(
      "edge",
      "MiB",
      sample((atS) => 500 + (50 * atS) / 3_600 + 5 * draw()),
    );
    expect(leak.isFlat).toBe(false);
    expect(leak.perHour!.slope).toBeCloseTo(50, -1);
    expect(leak.perHour!.low).toBeLessThan(50);
    expect(leak.perHour!.high).toBeGreaterThan(50);
  });

  it("is none where memory is noise, falls, or only filled its caches at first", () => {
    const draw = lehmer();
    expect(
      judgeGrowth(
        "noise",
        "MiB",
        sample(() => 500 + 50 * draw()),
      ).isFlat,
    ).toBe(true);
    expect(
      judgeGrowth(
        "falling",
        "MiB",
        sample((atS) => 500 - atS / 100),
      ).isFlat,
    ).toBe(true);
    expect(
      judgeGrowth(
        "filling",
        "MiB",
        sample((atS) => Math.min(500, 200 + atS) + draw()),
      ).isFlat,
    ).toBe(true);
  });

  it("is not called flat where a soak was too short", () => {
    expect(judgeGrowth("short", "MiB", sample(() => 1).slice(0, 60))).toMatchObject({ perHour: null, isFlat: false });
  });
});
