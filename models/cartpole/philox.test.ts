import { describe, expect, it } from "vitest";
import { philox4x32, toUnitInterval } from "./philox.ts";
import type { Words2, Words4 } from "./philox.ts";

const hex = (words: readonly number[]) => words.map((word) => word.toString(16).padStart(8, "0")).join(" ");

describe("philox4x32", () => {
  // kat_vectors of Random123: zeros, ones, digits of pi.
  const known: [Words4, Words2, string][] = [
    [[0, 0, 0, 0], [0, 0], "6627e8d5 e169c58d bc57ac4c 9b00dbd8"],
    [[0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff], [0xffffffff, 0xffffffff], "408f276d 41c83b0e a20bc7c6 6d5451fd"],
    [[0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344], [0xa4093822, 0x299f31d0], "d16cfe09 94fdcceb 5001e420 24126ea1"],
  ];

  it.each(known)("gives the known answer for counter %j, key %j", (counter, key, answer) => {
    expect(hex(philox4x32(counter, key))).toBe(answer);
  });
});

describe("toUnitInterval", () => {
  it("never gives 0 or 1", () => {
    expect(toUnitInterval(0)).toBeGreaterThan(0);
    expect(toUnitInterval(0xffffffff)).toBeLessThan(1);
  });
});
