import { expect, test } from "vitest";
import { seededWords } from "../../kernels/seeded-words.ts";

test("every bit is set in about half of the words", () => {
  const words = seededWords(1, 0, 10_000);
  const shares = Array.from({ length: 32 }, (_, bit) => words.filter((word) => ((word >>> bit) & 1) === 1).length);
  // Four standard deviations.
  expect(Math.max(...shares.map((share) => Math.abs(share - 5000)))).toBeLessThan(200);
});

test("is a pure function of seed, stream and index", () => {
  const words = seededWords(7, 3, 100);
  expect(seededWords(7, 3, 200).subarray(0, 100)).toEqual(words);
  expect(seededWords(8, 3, 100)).not.toEqual(words);
  expect(seededWords(7, 4, 100)).not.toEqual(words);
});
