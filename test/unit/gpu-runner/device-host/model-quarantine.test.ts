import { expect, it } from "vitest";
import { ModelQuarantine } from "../../../../src/gpu-runner/device-host/quarantine.ts";

const HOUR_MS = 3_600_000;
const MINUTE_MS = 60_000;

/** Refusal of a model at a time; null where it may run. */
function refusalAt(quarantine: ModelQuarantine, model: string, nowMs: number) {
  try {
    quarantine.refuse(model, nowMs);
    return null;
  } catch (error) {
    return (error as { problem: object }).problem;
  }
}

it("lets a model run until it ended the process for the third time, and then again for one try", () => {
  const quarantine = new ModelQuarantine();
  for (const nowMs of [0, 1, 2]) {
    expect(refusalAt(quarantine, "one", nowMs)).toBeNull();
    quarantine.note("one", "out-of-memory", nowMs);
  }
  expect(refusalAt(quarantine, "one", 3)).toMatchObject({ code: "model-quarantined", retryAfterMs: MINUTE_MS - 1 });
  expect(refusalAt(quarantine, "other", 3)).toBeNull();
  expect(refusalAt(quarantine, "one", 2 + MINUTE_MS)).toBeNull();
  quarantine.note("one", "backend-failed", 2 + MINUTE_MS);
  expect(refusalAt(quarantine, "one", 3 + MINUTE_MS)).toMatchObject({ retryAfterMs: 5 * MINUTE_MS - 1 });
});

it("forgives what is an hour old", () => {
  const quarantine = new ModelQuarantine();
  for (const nowMs of [0, 1]) quarantine.note("one", "out-of-memory", nowMs);
  quarantine.note("one", "out-of-memory", 2 + HOUR_MS);
  expect(refusalAt(quarantine, "one", 3 + HOUR_MS)).toBeNull();
});
