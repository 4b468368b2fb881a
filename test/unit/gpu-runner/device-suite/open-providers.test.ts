import { expect, it } from "vitest";
import type { Check } from "../../../../src/gpu-runner/device-suite/check.ts";
import { judgeAgreement } from "../../../../src/gpu-runner/device-suite/open-providers.ts";

const answered = (relativeError: number): Check => ({
  part: "in-flight",
  name: "cartpole 1 in flight",
  outcome: "passed",
  figures: { relativeError, agreement: 1e-3 },
  durationMs: 1,
});

it.each([
  ["wgsl", 1e-4, "passed"],
  ["wgsl", 1, "failed"],
  ["ort-webgpu", 1e-4, "passed"],
  ["ort-webgpu", Number.MAX_VALUE, "skipped"],
  ["ort-cuda", Number.MAX_VALUE, "skipped"],
] as const)("judges an answer of %s that is off by %f", (backend, relativeError, outcome) => {
  expect(judgeAgreement(answered(relativeError), backend).outcome).toBe(outcome);
});

it("keeps a check that has no answer", () => {
  const failed: Check = { part: "networks", name: "x", outcome: "failed", reason: "why", durationMs: 1 };
  expect(judgeAgreement(failed, "ort-webgpu")).toBe(failed);
});
