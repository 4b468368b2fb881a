import type { AlertState, ChangeDirection } from "../../../protocol/alert.ts";
import type { StoredPoint } from "../../store/point-store.ts";
import type { StoredSeries } from "../../store/series-store.ts";
import { toInstant } from "../../store/instant.ts";
import { type KnownChange, recogniseShifts, returnOf } from "./recognise-shifts.ts";
import type { Shift } from "./shift.ts";

/** What was found in one series now. */
export interface Findings {
  readonly series: StoredSeries;
  readonly points: readonly StoredPoint[];
  /** Whether the series has older points than these. */
  readonly truncated: boolean;
  readonly shifts: readonly Shift[];
}

/** An alert, stored or about to be. */
export interface KnownAlert {
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
  readonly changes: number;
  /** Its changes whose series are not back at their old level. */
  readonly lasting: number;
  /** Of one of its changes. */
  readonly subject: string;
  readonly runId: string | null;
}

export interface PlannedChange extends Omit<KnownChange, "alertState"> {
  readonly series: StoredSeries;
  readonly isNew: boolean;
}

export interface PlannedAlert extends KnownAlert {
  readonly isNew: boolean;
  /** The state that it was found in; null of a new one. */
  readonly before: AlertState | null;
}

export interface Plan {
  readonly alerts: readonly PlannedAlert[];
  readonly changes: readonly PlannedChange[];
}

type Working = { -readonly [Key in keyof PlannedAlert]: PlannedAlert[Key] };

export interface Known {
  readonly changes: readonly KnownChange[];
  /** Those of the changes, and all whose span one of the shifts may lie in. */
  readonly alerts: readonly KnownAlert[];
}

interface Options {
  readonly nowMs: number;
  readonly minSegment?: number | undefined;
  readonly createId: (kind: "alert" | "change") => string;
}

/**
 * What findings mean for what people are shown: changes that are known are brought up to date, new ones join the alert
 * of what moved at the same time on the same hardware, or make one, and alerts end whose series are back.
 */
export function planAlerts(findings: readonly Findings[], known: Known, options: Options): Plan {
  const alerts = known.alerts.map((alert): Working => ({ ...alert, isNew: false, before: alert.state }));
  const changes: PlannedChange[] = [];
  const fresh: { readonly series: StoredSeries; readonly shift: Shift }[] = [];
  for (const finding of findings) {
    const { series } = finding;
    const own = known.changes.filter(({ seriesNo }) => seriesNo === series.no);
    const { updated, unknown } = bringUpToDate(finding, own, options.minSegment);
    for (const change of updated) {
      changes.push({ ...change, series, isNew: false });
      const alert = alerts.find(({ id }) => id === change.alertId);
      if (alert === undefined) continue;
      if (change.hasReturned) alert.lasting--;
      // The alert of one change goes where that goes.
      if (alert.changes === 1) Object.assign(alert, { afterMs: change.afterMs, atMs: change.atMs });
    }
    fresh.push(...unknown.map((shift) => ({ series, shift })));
  }
  for (const { series, shift } of fresh.toSorted((a, b) => a.shift.atMs - b.shift.atMs || a.series.no - b.series.no)) {
    let alert = findHost(alerts, series, shift);
    if (alert === undefined) {
      alert = openAlert(options.createId("alert"), series, shift, options.nowMs);
      alerts.push(alert);
    }
    join(alert, series, shift);
    const place = { id: options.createId("change"), seriesNo: series.no, alertId: alert.id };
    changes.push({ ...shift, ...place, createdAtMs: options.nowMs, series, isNew: true });
  }
  return { alerts: alerts.filter((alert) => settle(alert, known.alerts, options.nowMs)), changes };
}

type UpdatedChange = Omit<KnownChange, "alertState"> & { readonly hasReturned: boolean };

/** The known changes of a series of which more is known now, and the shifts that are none of them. */
function bringUpToDate(
  { series, points, truncated, shifts }: Findings,
  known: readonly KnownChange[],
  minSegment: number | undefined,
): { updated: UpdatedChange[]; unknown: Shift[] } {
  const dated = known.map((change) => withReturn(change, shifts, points, series));
  const recognised = recogniseShifts(shifts, dated, points, minSegment);
  // Of a cut series the first change may have lost most of what was before it.
  const cut = truncated ? shifts.find(({ thresholdId }) => thresholdId === null) : undefined;
  const latest = new Map(
    [...recognised]
      .filter(([shift, change]) => shift !== cut && (change.thresholdId === null || change.atMs === shift.atMs))
      .map(([shift, change]) => [change, shift]),
  );
  const updated = dated.flatMap((change, at) => {
    const { returnedAt } = change.evidence;
    const shift = latest.get(change);
    const { alertState: _, ...now } =
      shift === undefined ? change : { ...change, ...shift, evidence: { ...shift.evidence, returnedAt } };
    const before = known[at]?.evidence;
    if (now.atMs === change.atMs && isSame(now.evidence, before)) return [];
    return [{ ...now, hasReturned: before?.returnedAt === null && returnedAt !== null }];
  });
  const unknown = shifts.filter((shift) => !recognised.has(shift));
  return { updated, unknown: unknown.map((shift) => withReturn(shift, shifts, points, series)) };
}

function withReturn<Some extends Shift>(
  change: Some,
  shifts: readonly Shift[],
  points: readonly StoredPoint[],
  { direction }: StoredSeries,
): Some {
  if (change.evidence.returnedAt !== null) return change;
  const backMs = returnOf(change, shifts, points, direction);
  return backMs === null ? change : { ...change, evidence: { ...change.evidence, returnedAt: toInstant(backMs) } };
}

/** Whether two hold the same; the order of their fields says nothing. */
function isSame(a: object, b: object | undefined): boolean {
  const sorted = (value: object) => JSON.stringify(Object.entries(value).toSorted(([x], [y]) => (x < y ? -1 : 1)));
  return b !== undefined && sorted(a) === sorted(b);
}

/**
 * The alert that a shift belongs to: it moved the same way, at what may be the same time, on the same hardware; where
 * no hardware is told, as the same subject in the same run. The nearest, if there are several.
 */
function findHost(alerts: readonly Working[], series: StoredSeries, shift: Shift): Working | undefined {
  return alerts
    .filter(
      (alert) =>
        alert.direction === shift.direction &&
        Math.max(alert.afterMs, shift.afterMs) < Math.min(alert.atMs, shift.atMs) &&
        alert.fingerprintId === series.fingerprintId &&
        (series.fingerprintId !== null ||
          (alert.subject === series.subject && shift.runId !== null && alert.runId === shift.runId)),
    )
    .toSorted((a, b) => Math.abs(a.atMs - shift.atMs) - Math.abs(b.atMs - shift.atMs))[0];
}

function openAlert(id: string, series: StoredSeries, shift: Shift, nowMs: number): Working {
  const { direction, afterMs, atMs, runId } = shift;
  const { subject, fingerprintId } = series;
  const times = { createdAtMs: nowMs, updatedAtMs: nowMs };
  const origin = { isNew: true, before: null, version: 1, note: null, changes: 0, lasting: 0 };
  const state = series.mutedAtMs === null ? "open" : "muted";
  return { id, state, direction, fingerprintId, afterMs, atMs, subject, runId, ...times, ...origin };
}

function join(alert: Working, series: StoredSeries, { afterMs, atMs, evidence }: Shift): void {
  const lasts = evidence.returnedAt === null;
  const endedByItself = alert.state === "resolved" && alert.direction === "regression" && alert.lasting === 0;
  if (series.mutedAtMs === null && (alert.state === "muted" || (endedByItself && lasts))) alert.state = "open";
  // What they have in common: the longer the list, the better is known when it happened.
  alert.afterMs = Math.max(alert.afterMs, afterMs);
  alert.atMs = Math.min(alert.atMs, atMs);
  alert.changes++;
  if (lasts) alert.lasting++;
}

/** Ends what needs nobody, and tells whether anything about the alert is new. */
function settle(alert: Working, stored: readonly KnownAlert[], nowMs: number): boolean {
  const isPending = alert.state === "open" || alert.state === "acknowledged" || alert.state === "muted";
  if (alert.direction === "improvement") {
    if (alert.state === "open" && alert.isNew) alert.state = "resolved";
  } else if (isPending && alert.lasting <= 0) {
    alert.state = "resolved";
    const note = "Resolved by itself: back at the level of before.";
    alert.note = alert.note === null ? note : `${alert.note}\n${note}`;
  }
  if (alert.isNew) return true;
  const old = stored.find(({ id }) => id === alert.id);
  const isUnchanged = (["state", "afterMs", "atMs", "changes", "lasting"] as const).every(
    (field) => old?.[field] === alert[field],
  );
  if (isUnchanged) return false;
  alert.version++;
  alert.updatedAtMs = nowMs;
  return true;
}
