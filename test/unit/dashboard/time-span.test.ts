import { describe, expect, it } from "vitest";
import {
  moveByKey,
  panSpan,
  readSpan,
  type TimeSpan,
  writeSpan,
  zoomSpan,
} from "../../../src/dashboard/history/time-span.ts";
import { fc } from "../property.ts";

const whole: TimeSpan = [1_000, 5_000];

describe("what is shown of a series", () => {
  it("is moved and stops at either end with its length", () => {
    expect(panSpan([2_000, 3_000], 500, whole)).toEqual([2_500, 3_500]);
    expect(panSpan([2_000, 3_000], 9_000, whole)).toEqual([4_000, 5_000]);
    expect(panSpan([2_000, 3_000], -9_000, whole)).toEqual([1_000, 2_000]);
  });

  it("is zoomed around an instant that stays where it is, to the whole and to a second", () => {
    expect(zoomSpan([2_000, 4_000], 2, 2_500, whole)).toEqual([2_250, 3_250]);
    expect(zoomSpan([2_000, 4_000], 0.1, 3_000, whole)).toEqual(whole);
    const [fromS, toS] = zoomSpan([2_000, 4_000], 1e9, 3_000, whole);
    expect(toS - fromS).toBeCloseTo(1);
  });

  it("never leaves the whole, whatever is pressed", () => {
    const keys = fc.array(fc.constantFrom("ArrowLeft", "ArrowRight", "+", "-", "Home", "End", "0"));
    fc.assert(
      fc.property(keys, (pressed) => {
        const [fromS, toS] = pressed.reduce<TimeSpan>((span, key) => moveByKey(span, key, whole)!, whole);
        expect(fromS).toBeGreaterThanOrEqual(whole[0] - 1e-6);
        expect(toS).toBeLessThanOrEqual(whole[1] + 1e-6);
        expect(toS - fromS).toBeGreaterThan(0.99);
      }),
    );
    expect(moveByKey(whole, "Tab", whole)).toBeNull();
    expect(moveByKey([2_000, 3_000], "Home", whole)).toEqual([1_000, 2_000]);
    expect(moveByKey([2_000, 3_000], "End", whole)).toEqual([4_000, 5_000]);
  });

  it("comes back from an address, and is none where the address says nothing that is there", () => {
    expect(readSpan(writeSpan([2_000, 3_000.5]), whole)).toEqual([2_000, 3_000.5]);
    expect(readSpan(writeSpan([0, 3_000]), whole)).toEqual([1_000, 3_000]);
    for (const text of [undefined, "", "soon/later", writeSpan([3_000, 2_000]), writeSpan([6_000, 7_000])]) {
      expect(readSpan(text, whole)).toBeNull();
    }
  });
});
