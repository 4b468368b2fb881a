import { describe, expect, it } from "vitest";
import { formatQuantity, orderChecks, spellBytes } from "../../../src/words/runners.ts";
import type { DiagnosisCheck } from "../../../src/protocol/fleet/health.ts";

it("writes shares as per cent, bytes in binary units, and the rest with its unit", () => {
  expect(formatQuantity(0.915, "share of the cores")).toBe("91.5% of the cores");
  expect(formatQuantity(0.2, "share")).toBe("20%");
  expect(formatQuantity(2 ** 20, "bytes per hour")).toBe("1 MiB per hour");
  expect(formatQuantity(-(2 ** 20), "bytes per hour")).toBe("−1 MiB per hour");
  expect(formatQuantity(1_800, "MHz")).toBe("1,800 MHz");
});

it("spells the bytes of a profile's line, and no other number", () => {
  expect(spellBytes("memory bytes", "at least 17179869184")).toBe("at least 16 GiB");
  expect(spellBytes("GPU memory bytes", "not told")).toBe("not told");
  expect(spellBytes("logical cores", "at least 8")).toBe("at least 8");
});

describe("a checklist", () => {
  it("begins with what failed and ends with what is not known, each in its order", () => {
    const lines = (["pass", "unknown", "fail", "pass", "fail"] as const).map((outcome, index): DiagnosisCheck => ({
      check: "utilisation",
      deviceKey: `gpu${index}`,
      placementId: null,
      measured: null,
      limit: null,
      unit: "ms",
      outcome,
      detail: "",
      advice: null,
    }));
    expect(orderChecks(lines).map(({ deviceKey }) => deviceKey)).toEqual(["gpu2", "gpu4", "gpu0", "gpu3", "gpu1"]);
  });
});
