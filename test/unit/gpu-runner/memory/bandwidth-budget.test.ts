import { expect, it } from "vitest";
import { BandwidthBudget } from "../../../../src/gpu-runner/memory/background-work.ts";
import { fc } from "../../property.ts";

it("lets a second's worth through at once, then as much as time brings", () => {
  const budget = new BandwidthBudget(1_000);
  expect(budget.take(1_000, 5_000)).toBe(0);
  expect(budget.take(100, 5_000)).toBe(100);
  expect(budget.take(100, 5_100)).toBe(0);
});

it("lets what is larger than the bucket through once, and has it paid off", () => {
  const budget = new BandwidthBudget(1_000);
  expect(budget.take(5_000, 0)).toBe(0);
  expect(budget.take(1, 0)).toBe(4_001);
});

it("never passes more than its rate and one burst, in any order of requests", () => {
  const asks = fc.array(fc.record({ sizeBytes: fc.integer({ min: 1, max: 3_000 }), afterMs: fc.nat(500) }), {
    minLength: 1,
    maxLength: 50,
  });
  fc.assert(
    fc.property(asks, (asked) => {
      const budget = new BandwidthBudget(1_000);
      let nowMs = 0;
      let passed = 0;
      for (const { sizeBytes, afterMs } of asked) {
        nowMs += afterMs;
        if (budget.take(sizeBytes, nowMs) > 0) continue;
        // A transfer larger than the bucket needs a full one.
        expect(passed + Math.min(sizeBytes, 1_000)).toBeLessThanOrEqual(1_000 + nowMs);
        passed += sizeBytes;
      }
    }),
  );
});
