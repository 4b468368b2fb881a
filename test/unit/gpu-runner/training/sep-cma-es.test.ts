import { describe, expect, it } from "vitest";
import { deriveSepCma } from "../../../../src/gpu-runner/training/sep-cma-es.ts";

describe("deriveSepCma", () => {
  it("gives the paper's constants for a policy of 114 numbers and 32 members", () => {
    const { weights, ...constants } = deriveSepCma(114, 32);
    expect(weights.length).toBe(16);
    expect(weights[0]).toBeCloseTo(0.193267371, 9);
    expect(weights[15]).toBeCloseTo(0.004135503, 9);
    expect(weights.reduce((sum, weight) => sum + weight, 0)).toBeCloseTo(1, 12);
    expect(constants).toEqual({
      muEff: expect.closeTo(9.436724, 6),
      cSigma: expect.closeTo(0.090454132, 9),
      dSigma: expect.closeTo(1.090454132, 9),
      cC: expect.closeTo(0.033898305, 9),
      cCov: expect.closeTo(0.046500901, 9),
      chiN: expect.closeTo(10.653703, 6),
    });
  });

  it("never forgets more of a variance than there is", () => {
    expect(deriveSepCma(10, 4_096).cCov).toBe(1);
  });

  it("has one parent at least", () => {
    expect(deriveSepCma(3, 2).weights).toEqual(Float64Array.of(1));
  });
});
