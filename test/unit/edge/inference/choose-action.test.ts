import { describe, expect, it } from "vitest";
import { chooseAction } from "../../../../src/edge/routes/inference/policy-request.ts";

describe("an action", () => {
  it("is the index of the largest output, the first of equals, or all outputs", () => {
    expect(chooseAction("argmax", [1, 3, 3, 2], 0, 0)).toBe(1);
    expect(chooseAction("argmax", [Number.NEGATIVE_INFINITY, -5], 0, 0)).toBe(1);
    expect(chooseAction("raw", [1, 3], 0, 0)).toEqual([1, 3]);
  });

  it("is drawn from the softmax: frequencies agree with it to four standard errors", () => {
    const logits = [0, Math.log(2), Math.log(5)];
    const draws = 20_000;
    const counts = [0, 0, 0];
    for (let index = 0; index < draws; index++) counts[chooseAction("sample", logits, 11, index) as number]!++;
    for (const [action, share] of [1 / 8, 2 / 8, 5 / 8].entries()) {
      expect(Math.abs(counts[action]! / draws - share)).toBeLessThan(4 * Math.sqrt((share * (1 - share)) / draws));
    }
  });

  it("of one seed and index is always the same, and large outputs do not overflow", () => {
    const draw = (seed: number, index: number) => chooseAction("sample", [1e4, 1e4, 0], seed, index);
    const first = Array.from({ length: 64 }, (_, index) => draw(1, index));
    expect(Array.from({ length: 64 }, (_, index) => draw(1, index))).toEqual(first);
    expect(Array.from({ length: 64 }, (_, index) => draw(2, index))).not.toEqual(first);
    expect(new Set(first)).toEqual(new Set([0, 1]));
  });

  it("is none where the outputs are not finite", () => {
    expect(() => chooseAction("raw", [1, Number.NEGATIVE_INFINITY], 0, 0)).toThrow(RangeError);
    for (const choice of ["argmax", "sample", "raw"] as const) {
      expect(() => chooseAction(choice, [Number.NaN, 1], 0, 0)).toThrow(RangeError);
      expect(() => chooseAction(choice, [Number.POSITIVE_INFINITY, 1], 0, 0)).toThrow(RangeError);
    }
  });
});
