import type { Finding, FindingKind } from "../../../protocol/fleet/health.ts";
import type { Alert, AlertState, Change, ChangeDirection } from "../../../protocol/history/alert.ts";
import { toInstant } from "../../clock.ts";

/** Subjects of an alert from which the machine is the likely cause. */
const MACHINE_SUBJECTS = 3;

/** Stored fields of an alert. */
export interface AlertRow {
  readonly id: string;
  readonly state: AlertState;
  readonly direction: ChangeDirection;
  readonly fingerprintId: string | null;
  readonly afterMs: number;
  readonly atMs: number;
  readonly note: string | null;
  readonly version: number;
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
}

/** Sums over an alert's changes. */
interface Sum {
  readonly changes: number;
  readonly series: number;
  readonly subjects: number;
  readonly leading: Change;
}

export function describeAlert(row: AlertRow, { changes, series, subjects, leading }: Sum): Alert {
  const { id, state, direction, fingerprintId, note, version } = row;
  const isMachine = fingerprintId !== null && subjects >= MACHINE_SUBJECTS;
  const scope = isMachine ? "machine" : series > 1 ? "subject" : "series";
  const shown = { id, state, direction, scope, fingerprintId, changes, subjects, leading, note, version } as const;
  return {
    ...shown,
    kind: "change",
    runnerId: null,
    finding: null,
    summary: summarise(leading, scope, series, subjects),
    after: toInstant(row.afterMs),
    at: toInstant(row.atMs),
    createdAt: toInstant(row.createdAtMs),
    updatedAt: toInstant(row.updatedAtMs),
  };
}

/** Sort key of an alert's changes: the largest first. */
export function sizeOf({ relativeChange, from, to }: Pick<Change, "relativeChange" | "from" | "to">): number {
  return Math.abs(relativeChange ?? to - from);
}

function summarise(leading: Change, scope: Alert["scope"], series: number, subjects: number): string {
  const { subject, metric, unit, label } = leading.series;
  const where = label === null ? "" : ` on ${label}`;
  const share = leading.relativeChange === null ? "" : ` (${toShare(leading.relativeChange)})`;
  const move = `${subject} ${metric}${where} went from ${toText(leading.from)} to ${toText(leading.to)} ${unit}${share}`;
  if (scope === "series") return `${move}.`;
  const others = `${move}, and ${series - 1} more series moved at the same time`;
  if (scope === "subject") return `${others}.`;
  return `${others}, of ${subjects} subjects on one machine: more likely the machine than your code.`;
}

function toText(value: number): string {
  return String(Number(value.toPrecision(4)));
}

function toShare(share: number): string {
  return `${share > 0 ? "+" : "−"}${Number((100 * Math.abs(share)).toPrecision(3))} %`;
}

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

/** A finding's alert for display. */
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
