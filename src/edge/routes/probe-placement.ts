import type { TensorSpec } from "../../protocol/model.ts";
import { createSeededInputs } from "../../protocol/seeded-inputs.ts";
import { placementWatch } from "../budget/placement-watch.ts";
import type { Env } from "../config.ts";
import type { LivePlacement } from "../store/placement-store.ts";
import { askRunner, type WaitUntil } from "./ask-runner.ts";

const PROBE_MS = 1_000;
const CONFIDENCE = 0.5;

/**
 * Asks a placement something of our own behind a request, once a second at most: one that has stopped
 * answering is back as soon as it answers, and one that has rested is warm for whoever comes next.
 */
export function probePlacement(
  env: Env,
  placement: LivePlacement,
  inputs: readonly TensorSpec[],
  waitUntil: WaitUntil,
): void {
  const nowMs = Date.now();
  if (!placementWatch.takeProbe(placement, nowMs)) return;
  const outlook = placementWatch.outlook(placement, 1, CONFIDENCE, nowMs);
  const question = {
    candidate: { placement, outlook },
    tensors: createSeededInputs(inputs, 0),
    pointer: "",
    rows: 1,
    confidence: CONFIDENCE,
    priority: 0,
    deadlineAtMs: nowMs + PROBE_MS,
  };
  // What came of it is noted by `askRunner`; inputs that no frame can hold leave it unknown.
  waitUntil(askRunner(env, question, waitUntil).catch(() => undefined));
}
