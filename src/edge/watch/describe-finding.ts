import type { Alert } from "../../protocol/alert.ts";
import type { Finding, FindingKind } from "../../protocol/health.ts";
import type { AlertRow } from "../history/detect/describe-alert.ts";
import { toInstant } from "../store/instant.ts";

const NAMES: Record<FindingKind, string> = {
  "thermal-throttling": "Thermal throttling",
  "host-contention": "Host contention",
  "slow-backend": "Slow backend",
  "latency-drift": "Latency drift",
  "low-utilisation": "Low utilisation",
  "memory-growth": "Memory growth",
  errors: "Errors",
  queueing: "Queueing",
};

/** The alert of a finding, as people are shown it. */
export function describeFinding(row: AlertRow, finding: Finding): Alert {
  const { id, state, direction, fingerprintId, note, version } = row;
  const { kind, runnerId, deviceKey, placementId, subject, detail } = finding;
  const place = subject ?? deviceKey;
  return {
    id,
    kind: "finding",
    state,
    direction,
    fingerprintId,
    note,
    version,
    runnerId,
    finding,
    scope: placementId === null ? "machine" : "subject",
    summary: `${NAMES[kind]} on ${runnerId}${place === null ? "" : `, ${place}`}: ${detail}`,
    changes: 0,
    subjects: subject === null ? 0 : 1,
    leading: null,
    after: toInstant(row.afterMs),
    at: toInstant(row.atMs),
    createdAt: toInstant(row.createdAtMs),
    updatedAt: toInstant(row.updatedAtMs),
  };
}
