import type { Alert, AlertAction, AlertState } from "../../../protocol/history/alert.ts";
import { toInstant } from "../../clock.ts";
import type {
  KnownAlert,
  KnownChange,
  PlannedAlert,
  PlannedChange,
  Shift,
} from "../../store/history/detection-store.ts";
import type { StoredPoint } from "../../store/history/point-store.ts";
import type { StoredSeries } from "../../store/history/series-store.ts";
import { recogniseShifts, returnOf } from "./recognise-shifts.ts";

/** State transitions of each action. */
const TRANSITIONS: Record<AlertAction, { readonly from: readonly AlertState[]; readonly to: AlertState }> = {
  acknowledge: { from: ["open", "muted"], to: "acknowledged" },
  dismiss: { from: ["open", "acknowledged", "muted"], to: "dismissed" },
  mute: { from: ["open", "acknowledged", "resolved", "dismissed"], to: "muted" },
  resolve: { from: ["open", "acknowledged", "muted"], to: "resolved" },
  reopen: { from: ["acknowledged", "resolved", "dismissed", "muted"], to: "open" },
};

/** State after an action; null where the action is impossible. An alert of changes mutes their series. */
export function changeState({ kind, state }: Pick<Alert, "kind" | "state">, action: AlertAction): AlertState | null {
  const { from, to } = TRANSITIONS[action];
  return from.includes(state) && (action !== "mute" || kind === "finding") ? to : null;
}

/** Current findings of one series. */
export interface Findings {
  readonly series: StoredSeries;
  readonly points: readonly StoredPoint[];
  /** True if the series has older points than these. */
  readonly truncated: boolean;
  readonly shifts: readonly Shift[];
}

export interface Plan {
  readonly alerts: readonly PlannedAlert[];
  readonly changes: readonly PlannedChange[];
}

type Working = { -readonly [Key in keyof PlannedAlert]: PlannedAlert[Key] };

export interface Known {
  readonly changes: readonly KnownChange[];
  /** Alerts of the changes, and all whose span may contain one of the shifts. */
  readonly alerts: readonly KnownAlert[];
}

interface Options {
  readonly nowMs: number;
  readonly minSegment?: number | undefined;
  /** True if a change that is no longer found was a mistake; false for a search with other parameters. */
  readonly mayWithdraw: boolean;
  readonly createId: (kind: "alert" | "change") => string;
}

/**
 * Plans alerts from findings. Known changes are updated; new ones join the alert of changes at the same time on the
 * same hardware, or open one. Alerts end once their series have returned to normal.
 */
export function planAlerts(findings: readonly Findings[], known: Known, options: Options): Plan {
  const alerts = known.alerts.map((alert): Working => ({ ...alert, isNew: false, before: alert.state }));
  const changes: PlannedChange[] = [];
  const fresh: { readonly series: StoredSeries; readonly shift: Shift }[] = [];
  for (const finding of findings) {
    const { series } = finding;
    const own = known.changes.filter(({ seriesNo }) => seriesNo === series.no);
    const { updated, unknown } = bringUpToDate(finding, own, options);
    for (const change of updated) {
      changes.push({ ...change, series, isNew: false });
      const alert = alerts.find(({ id }) => id === change.alertId);
      if (alert === undefined) continue;
      alert.lasting += change.lasting;
      // The alert of a single change moves with that change.
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

/** Adds the increase in the alert's number of lasting changes. */
type UpdatedChange = Omit<KnownChange, "alertState"> & { readonly lasting: -1 | 0 | 1 };

/** Points after a change beyond which it is withdrawn if no longer found. */
const SETTLED_POINTS = 40;

/** Known changes of a series with new details, and the shifts that match none of them. */
function bringUpToDate(
  finding: Findings,
  known: readonly KnownChange[],
  { minSegment, mayWithdraw }: Options,
): { updated: UpdatedChange[]; unknown: Shift[] } {
  const { series, points, truncated, shifts } = finding;
  const dated = known.map((change) => withReturn(change, shifts, points, series));
  const recognised = recogniseShifts(shifts, dated, points, minSegment);
  const found = new Set(recognised.values());
  // In a cut series the first change may have lost most of its history.
  const cut = truncated ? shifts.find(({ thresholdId }) => thresholdId === null) : undefined;
  const latest = new Map(
    [...recognised]
      .filter(([shift, change]) => shift !== cut && (change.thresholdId === null || change.atMs === shift.atMs))
      .map(([shift, change]) => [change, shift]),
  );
  const updated = dated.flatMap((change, at) => {
    const before = known[at] ?? change;
    const shift = latest.get(change);
    const { alertState: _, ...same } = change;
    let now: Omit<KnownChange, "alertState"> = same;
    if (shift !== undefined) {
      now = { ...same, ...shift, evidence: { ...shift.evidence, returnedAt: change.evidence.returnedAt } };
    } else if (mayWithdraw && !found.has(change) && isSettled(change, finding)) {
      const withdrawnAt = toInstant(points.at(-1)?.atMs ?? change.atMs);
      now = { ...same, evidence: { ...same.evidence, withdrawnAt } };
    }
    if (now.atMs === before.atMs && isSame(now.evidence, before.evidence)) return [];
    return [{ ...now, lasting: (Number(lasts(now)) - Number(lasts(before))) as -1 | 0 | 1 }];
  });
  const unknown = shifts.filter((shift) => !recognised.has(shift));
  return { updated, unknown: unknown.map((shift) => withReturn(shift, shifts, points, series)) };
}

function lasts({ evidence: { returnedAt, withdrawnAt } }: Shift): boolean {
  return returnedAt === null && withdrawnAt === null;
}

/** True if a change lies well inside the points, so that a search would find it again if it were real. */
function isSettled(change: KnownChange, { points, truncated }: Findings): boolean {
  if (change.thresholdId !== null || !lasts(change)) return false;
  const index = points.findIndex(({ atMs }) => atMs >= change.atMs);
  return index > (truncated ? points.length / 2 : 0) && points.length - index >= SETTLED_POINTS;
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

/** Compares two objects field by field, in any order. */
function isSame(a: object, b: object | undefined): boolean {
  const sorted = (value: object) => JSON.stringify(Object.entries(value).toSorted(([x], [y]) => (x < y ? -1 : 1)));
  return b !== undefined && sorted(a) === sorted(b);
}

/**
 * Alert that a shift belongs to, in its own project: same direction, possibly the same time, same hardware. Without
 * known hardware: same subject in the same run. The nearest if there are several.
 */
function findHost(alerts: readonly Working[], series: StoredSeries, shift: Shift): Working | undefined {
  return alerts
    .filter(
      (alert) =>
        alert.project === series.project &&
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
  const { project, subject, fingerprintId } = series;
  const times = { createdAtMs: nowMs, updatedAtMs: nowMs };
  const origin = { isNew: true, before: null, version: 1, note: null, changes: 0, lasting: 0 };
  const state = series.mutedAtMs === null ? "open" : "muted";
  return { id, project, state, direction, fingerprintId, afterMs, atMs, subject, runId, ...times, ...origin };
}

function join(alert: Working, series: StoredSeries, shift: Shift): void {
  const { afterMs, atMs } = shift;
  const endedByItself = alert.state === "resolved" && alert.direction === "regression" && alert.lasting === 0;
  if (series.mutedAtMs === null && (alert.state === "muted" || (endedByItself && lasts(shift)))) alert.state = "open";
  // Intersection of the changes' time spans: each change narrows it.
  alert.afterMs = Math.max(alert.afterMs, afterMs);
  alert.atMs = Math.min(alert.atMs, atMs);
  alert.changes++;
  if (lasts(shift)) alert.lasting++;
}

/** Ends an alert that needs no attention; returns whether anything about the alert is new. */
function settle(alert: Working, stored: readonly KnownAlert[], nowMs: number): boolean {
  const isPending = alert.state === "open" || alert.state === "acknowledged" || alert.state === "muted";
  if (alert.direction === "improvement") {
    if (alert.state === "open" && alert.isNew) alert.state = "resolved";
  } else if (isPending && alert.lasting <= 0) {
    alert.state = "resolved";
    const note = "Resolved by itself: what moved is back at its old level, or turned out to be no change.";
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
