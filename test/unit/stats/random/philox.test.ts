import { describe, expect, it } from "vitest";
import { multiplyHigh, philox4x32 } from "../../../../src/stats/random/draws.ts";

describe("Philox4x32-10", () => {
  // The first vector is the one that every implementation publishes; the others are of Random123's `kat_vectors`.
  it.each([
    [
      [0, 0, 0, 0],
      [0, 0],
      ["6627e8d5", "e169c58d", "bc57ac4c", "9b00dbd8"],
    ],
    [
      [0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff],
      [0xffffffff, 0xffffffff],
      ["408f276d", "41c83b0e", "a20bc7c6", "6d5451fd"],
    ],
    [
      [0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344],
      [0xa4093822, 0x299f31d0],
      ["d16cfe09", "94fdcceb", "5001e420", "24126ea1"],
    ],
  ] as const)("of %j under %j is %j", (counter, key, words) => {
    expect(philox4x32(counter, key).map((word) => word.toString(16).padStart(8, "0"))).toEqual(words);
  });

  it("multiplies words exactly", () => {
    const full = 0xffffffff;
    for (const [a, b] of [
      [full, full],
      [0x10000, 0x10000],
      [0xd2511f53, 0x89abcdef],
      [1, full],
    ] as const) {
      expect(multiplyHigh(a, b)).toBe(Number((BigInt(a) * BigInt(b)) >> 32n));
    }
  });

  it("is uniform enough to draw by: a χ² of 64 bins over 64,000 words stays below its 0.999 quantile", () => {
    const bins = Array.from({ length: 64 }, () => 0);
    for (let index = 0; index < 16_000; index++) {
      for (const word of philox4x32([index, 0, 0, 0], [7, 0])) bins[word >>> 26]!++;
    }
    const chiSquared = bins.reduce((sum, count) => sum + (count - 1_000) ** 2 / 1_000, 0);
    expect(chiSquared).toBeLessThan(103.4);
  });
});
