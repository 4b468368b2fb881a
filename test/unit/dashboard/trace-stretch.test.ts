import { describe, expect, it } from "vitest";
import { moveStretch, stretchAround, tickStretch, zoomStretch } from "../../../src/dashboard/jobs/lay-out-trace.ts";

const whole = { startUs: 100, endUs: 1_100 };

describe("the stretch of a trace that is shown", () => {
  it("zooms around a place that stays where it is, and never beyond the whole", () => {
    expect(zoomStretch(whole, 0.5, 350, whole)).toEqual({ startUs: 225, endUs: 725 });
    expect(zoomStretch({ startUs: 225, endUs: 725 }, 2, 350, whole)).toEqual(whole);
    expect(zoomStretch({ startUs: 225, endUs: 725 }, 100, 700, whole)).toEqual(whole);
  });

  it("does not become shorter than the resolution", () => {
    const { startUs, endUs } = zoomStretch(whole, 1e-9, 350, whole);
    expect(endUs - startUs).toBeCloseTo(0.1);
    expect(startUs).toBeLessThan(350);
    expect(endUs).toBeGreaterThan(350);
  });

  it("moves as far as there is something", () => {
    const shown = { startUs: 400, endUs: 600 };
    expect(moveStretch(shown, 50, whole)).toEqual({ startUs: 450, endUs: 650 });
    expect(moveStretch(shown, 5_000, whole)).toEqual({ startUs: 900, endUs: 1_100 });
    expect(moveStretch(shown, -5_000, whole)).toEqual({ startUs: 100, endUs: 300 });
  });

  it("shows a span with room on both sides", () => {
    expect(stretchAround({ startUs: 500, endUs: 510 }, whole)).toEqual({ startUs: 490, endUs: 520 });
  });

  it("has ticks at round instants, no more than there is room for", () => {
    expect(tickStretch({ startUs: 120, endUs: 1_020 }, 5)).toEqual([200, 400, 600, 800, 1_000]);
    expect(tickStretch({ startUs: 0, endUs: 0 }, 5)).toEqual([]);
  });
});
