import type { ChangeDirection, ChangeEvidence } from "../../../protocol/alert.ts";
import type { FoundChange } from "../../../protocol/alert.ts";
import { toInstant } from "../../store/instant.ts";

/** A change of one series, found or stored. */
export interface Shift {
  readonly kind: FoundChange["kind"];
  /** The rule that was broken; null for a change point. */
  readonly thresholdId: string | null;
  readonly direction: ChangeDirection;
  /** Last point of the old regime, first of the new one. */
  readonly afterMs: number;
  readonly atMs: number;
  readonly runId: string | null;
  readonly revision: string | null;
  readonly evidence: ChangeEvidence;
}

export function toFoundChange({ evidence, afterMs, atMs, ...shift }: Shift): FoundChange {
  const { kind, thresholdId, direction, runId, revision } = shift;
  const place = { after: toInstant(afterMs), at: toInstant(atMs) };
  return { kind, direction, thresholdId, ...place, runId, revision, ...evidence };
}
