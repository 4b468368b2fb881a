import { expect, it } from "vitest";
import { spellSize } from "../../../src/words/kernels.ts";

it.each([
  [64, "64"],
  ["n", "n"],
  [{ ceilDiv: ["n", 64] }, "ceil(n / 64)"],
  [{ multiply: [2, { add: ["m", "n"] }] }, "2 · (m + n)"],
  [{ floorDiv: [{ subtract: ["m", 1] }, 2] }, "floor((m − 1) / 2)"],
  [{ max: ["m", { min: ["n", 8] }] }, "max(m, min(n, 8))"],
])("%j is spelt %s", (expression, text) => {
  expect(spellSize(expression)).toBe(text);
});
