import { describe, expect, it } from "vitest";
import { chooseTier } from "../../../../../src/gpu-runner/kinds/steps/use-pool.ts";

const rules = { residency: "gpu", minFreeGpu: 0.1, minFreeHost: 0.15 } as const;
const gpu = { freeBytes: 1_000, capacityBytes: 1_000 };
const host = { freeBytes: 8_000, capacityBytes: 10_000 };

describe("a pool of agents", () => {
  it("goes to the device as long as its floor stays free there, to the byte", () => {
    expect(chooseTier(rules, 900, { gpu, host })).toEqual({ tier: "gpu", freeShare: 0.1 });
    expect(chooseTier(rules, 901, { gpu, host })).toEqual({ tier: "host", freeShare: 0.7099 });
    expect(chooseTier({ ...rules, minFreeGpu: 0 }, 1_000, { gpu, host }).tier).toBe("gpu");
  });

  it("goes to the host where it is to, and where there is no device", () => {
    expect(chooseTier({ ...rules, residency: "host" }, 1, { gpu, host }).tier).toBe("host");
    expect(chooseTier(rules, 1, { gpu: null, host }).tier).toBe("host");
  });

  it("goes nowhere where the machine's own floor would be broken, and says by how much", () => {
    expect(chooseTier(rules, 6_500, { gpu, host }).freeShare).toBe(0.15);
    expect(() => chooseTier(rules, 7_000, { gpu, host })).toThrow(/would leave 10 % .* 15 % are to stay free/);
    expect(() => chooseTier(rules, 9_000, { gpu, host })).toThrow(/would leave 0 %/);
  });
});
