import { expect, test } from "vitest";
import { multiplyHigh, philox } from "./philox.ts";

const FULL = 0xffff_ffff;

// From the authors' own list of known answers (Random123, kat_vectors).
test.each([
  [[0, 0, 0, 0], [0, 0], "6627e8d5 e169c58d bc57ac4c 9b00dbd8"],
  [[FULL, FULL, FULL, FULL], [FULL, FULL], "408f276d 41c83b0e a20bc7c6 6d5451fd"],
  [
    [0x243f_6a88, 0x85a3_08d3, 0x1319_8a2e, 0x0370_7344],
    [0xa409_3822, 0x299f_31d0],
    "d16cfe09 94fdcceb 5001e420 24126ea1",
  ],
] as const)("philox of %j and key %j", (counter, key, words) => {
  const drawn = philox([...counter], [...key]).map((word) => word.toString(16).padStart(8, "0"));
  expect(drawn.join(" ")).toBe(words);
});

test("the upper half of a product is exact", () => {
  for (const [a, b] of [
    [FULL, FULL],
    [0x1_0000, 0x1_0000],
    [0xd251_1f53, 0x89ab_cdef],
    [1, FULL],
  ] as const) {
    expect(multiplyHigh(a, b)).toBe(Number((BigInt(a) * BigInt(b)) >> 32n));
  }
});
