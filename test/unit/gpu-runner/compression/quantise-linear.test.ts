import { describe, expect, it } from "vitest";
import {
  dequantiseLinear,
  quantisationOf,
  quantiseLinear,
  RANGES,
  roundHalfEven,
  symmetricScale,
} from "../../../../src/gpu-runner/compression/quantise-linear.ts";
import { fc } from "../../property.ts";

const float = fc.float({ noNaN: true, noDefaultInfinity: true });

describe("quantiseLinear", () => {
  it("rounds ties to even", () => {
    const ties = [0.5, 1.5, 2.5, -0.5, -1.5, -2.5];
    const quantised = ties.map((value) => quantiseLinear(value, { dtype: "int8", scale: 1, zeroPoint: 0 }));
    expect(quantised.map((value) => value + 0)).toEqual([0, 2, 2, 0, -2, -2]);
    expect(ties.map((value) => roundHalfEven(value) + 0)).toEqual([0, 2, 2, 0, -2, -2]);
    expect(roundHalfEven(2.500_001)).toBe(3);
    expect(roundHalfEven(-(2 ** 40))).toBe(-(2 ** 40));
  });

  it("divides in float32, as ONNX Runtime does", () => {
    // 0.35 / 0.1 is 3.4999999… in float64, and 3.5 in float32.
    expect(0.35 / Math.fround(0.1)).toBeLessThan(3.5);
    expect(quantiseLinear(0.35, { dtype: "int8", scale: Math.fround(0.1), zeroPoint: 0 })).toBe(4);
  });

  it.for([
    ["int8", -128, 127],
    ["uint8", 0, 255],
    ["int4", -8, 7],
    ["int32", -(2 ** 31), 2 ** 31 - 1],
  ] as const)("saturates %s", ([dtype, low, high]) => {
    expect(quantiseLinear(1e20, { dtype, scale: 1, zeroPoint: 0 })).toBe(high);
    expect(quantiseLinear(-1e20, { dtype, scale: 1, zeroPoint: 0 })).toBe(low);
    expect(quantiseLinear(Infinity, { dtype, scale: 1, zeroPoint: 0 })).toBe(high);
  });

  it("reproduces the weights of the definition", () => {
    const weights = [0.7, -0.35, 0.1, -0.02].map(Math.fround);
    const by = (dtype: "int8" | "int4", scale: number) =>
      weights.map((value) => quantiseLinear(value, { dtype, scale, zeroPoint: 0 }) + 0);
    expect(by("int8", symmetricScale(weights[0]!, 127))).toEqual([127, -64, 18, -4]);
    expect(by("int4", symmetricScale(weights[0]!, 7))).toEqual([7, -4, 1, 0]);
  });

  it("comes back to within half a step of what lies in its range", () => {
    fc.assert(
      fc.property(float, float, fc.double({ min: 0, max: 1, noNaN: true }), (one, other, share) => {
        const [min, max] = [Math.min(0, one, other), Math.max(0, one, other)];
        fc.pre(max - min > 1e-30 && max - min < 1e37);
        const by = quantisationOf({ min, max });
        const value = Math.fround(min + share * (max - min));
        const back = dequantiseLinear(quantiseLinear(value, by), by);
        // The ends may be half a step outside, since zero is exact.
        expect(Math.abs(back - value)).toBeLessThanOrEqual(by.scale * 1.001);
        expect(dequantiseLinear(quantiseLinear(0, by), by)).toBe(0);
      }),
    );
  });

  it("keeps every whole number that it made", () => {
    fc.assert(
      fc.property(fc.constantFrom("int8", "uint8", "int4" as const), fc.nat(255), fc.nat(255), (dtype, at, zero) => {
        const { low, high } = RANGES[dtype];
        const whole = low + (at % (high - low + 1));
        const by = { dtype, scale: Math.fround(0.037), zeroPoint: low + (zero % (high - low + 1)) };
        expect(quantiseLinear(dequantiseLinear(whole, by), by)).toBe(whole);
      }),
    );
  });
});

describe("quantisationOf", () => {
  it("agrees with DynamicQuantizeLinear's example", () => {
    const values = [0, 2, -3, -2.5, 1.34, 0.5];
    const by = quantisationOf({ min: -3, max: 2 });
    expect(by.scale).toBeCloseTo(0.019_607_8, 7);
    expect(by.zeroPoint).toBe(153);
    expect(values.map((value) => quantiseLinear(value, by))).toEqual([153, 255, 0, 26, 221, 179]);
  });

  it("has zero in its range, whatever was observed", () => {
    expect(quantisationOf({ min: 2, max: 5.1 })).toEqual({ dtype: "uint8", scale: Math.fround(0.02), zeroPoint: 0 });
    expect(quantisationOf({ min: -5.1, max: -2 })).toEqual({
      dtype: "uint8",
      scale: Math.fround(0.02),
      zeroPoint: 255,
    });
  });

  it("has the scale 1 where there is nothing but zero", () => {
    expect(quantisationOf({ min: 0, max: 0 })).toEqual({ dtype: "uint8", scale: 1, zeroPoint: 0 });
    expect(symmetricScale(0, 127)).toBe(1);
  });
});
