import type { TensorSpec } from "../../protocol/model.ts";
import { createSeededInputs } from "../../protocol/seeded-inputs.ts";
import { placementWatch } from "../budget/placement-watch.ts";
import type { Env } from "../config.ts";
import type { LivePlacement } from "../store/live-placement-store.ts";
import { askRunner, type WaitUntil } from "./ask-runner.ts";

/** How long a probe is waited for, and between two of a device that is silent or cold. */
const PROBE_MS = 1_000;
/** Between two of a device that is slow: they may take a tenth of it. */
const SLOW_PROBE_MS = 50;
const SLOW_PROBE_SERVICES = 10;
const CONFIDENCE = 0.5;

/**
 * Asks a placement something of our own behind a request, so that nobody's request need be risked to
 * find out: one that has stopped answering is back as soon as it answers, one that has rested is warm for
 * whoever comes next, and one that was slow is soon known to be fast again.
 */
export function probePlacement(
  env: Env,
  placement: LivePlacement,
  inputs: readonly TensorSpec[],
  waitUntil: WaitUntil,
  reason: "silent" | "cold" | "slow",
): void {
  // The edge needs not ask itself.
  if (placement.backend === "edge-wasm") return;
  const nowMs = Date.now();
  const outlook = placementWatch.outlook(placement, 1, CONFIDENCE, nowMs);
  const slowMs = Math.max(SLOW_PROBE_MS, SLOW_PROBE_SERVICES * outlook.medianServiceMs);
  if (!placementWatch.takeProbe(placement, reason === "slow" ? slowMs : PROBE_MS, nowMs)) return;
  const question = {
    candidate: { placement, outlook },
    tensors: createSeededInputs(inputs, 0),
    pointer: "",
    rows: 1,
    confidence: CONFIDENCE,
    priority: 0,
    deadlineAtMs: nowMs + PROBE_MS,
    isProbe: true,
  };
  // What came of it is noted by `askRunner`; inputs that no frame can hold leave it unknown.
  waitUntil(askRunner(env, question, waitUntil).catch(() => undefined));
}
