import { describe, expect, it } from "vitest";
import { evaluateSize, SizeExpression, sizeNames } from "../../../src/protocol/kernels/kernel-definition.ts";
import { fc } from "../property.ts";

const sizes = { m: 7, n: 100 };
const value = (expression: SizeExpression) => evaluateSize(SizeExpression.parse(expression), sizes);
const nested = (depth: number) =>
  Array.from({ length: depth }).reduce((inner: unknown) => ({ add: [inner, 1] }), "n" as unknown);

describe("a size expression", () => {
  it("is arithmetic over whole numbers and sizes", () => {
    expect(value(256)).toBe(256);
    expect(value("n")).toBe(100);
    expect(value({ ceilDiv: ["n", "m"] })).toBe(15);
    expect(value({ floorDiv: ["n", "m"] })).toBe(14);
    expect(value({ subtract: ["m", "n", 1] })).toBe(-94);
    expect(value({ multiply: ["m", "n", { max: ["m", 2] }] })).toBe(4_900);
    expect(value({ min: [{ add: ["m", 1, 1] }, "n"] })).toBe(9);
  });

  it("has no value where a size is unknown, a division by zero or a number too large to be exact", () => {
    expect(value("k")).toBeNull();
    expect(value({ ceilDiv: ["n", { subtract: ["n", 100] }] })).toBeNull();
    expect(value({ multiply: ["n", 2 ** 40, 2 ** 40] })).toBeNull();
    expect(value({ floorDiv: [{ multiply: [2 ** 52, 4] }, 4] })).toBeNull();
    expect(evaluateSize("hasOwnProperty", sizes)).toBeNull();
  });

  it("names what it uses", () => {
    expect(sizeNames({ add: ["n", { ceilDiv: ["m", 4] }, 1] })).toEqual(["n", "m"]);
  });

  it("is four deep at most, and what is not one is refused without being run", () => {
    expect(SizeExpression.safeParse(nested(3)).success).toBe(true);
    for (const wrong of [
      nested(4),
      nested(50_000),
      "n * 2",
      "__proto__",
      "toString",
      -1,
      0.5,
      null,
      [],
      {},
      { add: [] },
    ]) {
      expect(SizeExpression.safeParse(wrong).success).toBe(false);
    }
    expect(SizeExpression.safeParse({ add: [1, 2], min: [1, 2] }).success).toBe(false);
    expect(SizeExpression.safeParse({ add: Array(9).fill(1) }).success).toBe(false);
  });

  it("divides as whole numbers do", () => {
    const positive = fc.integer({ min: 1, max: 2 ** 31 });
    fc.assert(
      fc.property(positive, positive, (a, b) => {
        const [floor, ceil] = [value({ floorDiv: [a, b] }) ?? -1, value({ ceilDiv: [a, b] }) ?? -1];
        expect(BigInt(floor)).toBe(BigInt(a) / BigInt(b));
        expect(ceil - floor).toBe(a % b === 0 ? 0 : 1);
      }),
    );
  });
});
