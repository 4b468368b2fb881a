import { expect, it } from "vitest";
import type { Check } from "../../../../src/gpu-runner/device-suite/check.ts";
import { Selection } from "../../../../src/gpu-runner/device-suite/selection.ts";

const PARTS = ["kernels", "networks"];
const rest: Check = { part: "kernels", name: "the rest", outcome: "skipped", reason: "time limit", durationMs: 0 };

it("takes everything where it is empty", () => {
  const all = new Selection("", PARTS);
  expect([all.hasPart("kernels"), all.hasCheck("kernels", "gemm tiled")]).toEqual([true, true]);
  all.refuseUnknown([]);
});

it("takes parts, and beginnings of checks", () => {
  const some = new Selection("networks,kernels/gemm", PARTS);
  expect(PARTS.map((part) => some.hasPart(part))).toEqual([true, true]);
  expect(some.hasCheck("networks", "lenet5 wgsl")).toBe(true);
  expect(some.hasCheck("kernels", "gemm tiled")).toBe(true);
  expect(some.hasCheck("kernels", "copy plain")).toBe(false);
  some.refuseUnknown([]);
});

it("refuses an entry of no part, and one that names no check", () => {
  expect(() => new Selection("kernel", PARTS)).toThrow("--only kernel names no part; there are: kernels, networks.");
  const some = new Selection("kernels/gemm,kernels/gemm-m", PARTS);
  some.hasCheck("kernels", "gemm tiled");
  expect(() => some.refuseUnknown([])).toThrow("--only kernels/gemm-m names no check.");
  // Its checks may not have been reached.
  some.refuseUnknown([rest]);
});
