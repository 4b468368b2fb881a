import type { AlertState } from "../../../protocol/history/alert.ts";
import type { Finding } from "../../../protocol/fleet/health.ts";
import type { FindingAlert, PlannedFindingAlert } from "../../store/history/finding-store.ts";
import type { OpenFinding } from "./watch-rule.ts";

/** A finding that returns within this time of its alert's end reopens that alert; later it opens a new one. */
const REOPEN_MS = 3_600_000;
/** Time for a finding to disappear after a user resolved its alert; then the alert opens again. */
const GRACE_MS = 300_000;
/** Interval of an alert's updates while its finding lasts. */
const REFRESH_MS = 300_000;

/**
 * Plans a runner's alerts by its findings, one alert per key. An alert opens with its finding, is updated at intervals,
 * resolves when the finding is gone, and reopens if it soon returns. A dismissed or muted alert sends no more
 * notifications.
 */
export function planFindingAlerts(
  findings: readonly OpenFinding[],
  known: readonly FindingAlert[],
  nowMs: number,
  createId: () => string,
): readonly PlannedFindingAlert[] {
  const latest = new Map<string, FindingAlert>();
  for (const alert of known) {
    const other = latest.get(alert.findingKey);
    if (other === undefined || other.createdAtMs < alert.createdAtMs) latest.set(alert.findingKey, alert);
  }
  const lasting = findings.flatMap(({ key, finding }) => {
    const alert = latest.get(key);
    const planned = alert === undefined ? undefined : goOn(alert, finding, nowMs);
    return planned === undefined ? openAlert(createId(), key, finding, nowMs) : (planned ?? []);
  });
  const gone = [...latest.values()].filter(
    ({ state, findingKey }) =>
      (state === "open" || state === "acknowledged") && !findings.some(({ key }) => key === findingKey),
  );
  return [...lasting, ...gone.map((alert) => end(alert, nowMs))];
}

/** Change of the alert of a finding that lasts: null for none, undefined where a new alert is needed. */
function goOn(alert: FindingAlert, finding: Finding, nowMs: number): PlannedFindingAlert | null | undefined {
  const seenAgoMs = Date.parse(finding.since) - Date.parse(alert.finding.at);
  switch (alert.state) {
    case "open":
    case "acknowledged":
    case "muted":
      if (nowMs - Date.parse(alert.finding.at) < REFRESH_MS && alert.finding.cause === finding.cause) return null;
      return change(alert, { finding }, alert.state, nowMs);
    case "dismissed":
      // The dismissal holds while the finding lasts, and if it soon returns.
      if (seenAgoMs > REOPEN_MS) return undefined;
      return nowMs - Date.parse(alert.finding.at) < REFRESH_MS ? null : change(alert, { finding }, "dismissed", nowMs);
    case "resolved": {
      if (nowMs - alert.updatedAtMs > REOPEN_MS) return undefined;
      const isSame = finding.since === alert.finding.since;
      if (isSame && nowMs - alert.updatedAtMs < GRACE_MS) return null;
      const note = isSame ? "Opened again: it was resolved, and is still there." : "Opened again: it came back.";
      return change(alert, { finding, note: addNote(alert.note, note) }, "open", nowMs);
    }
  }
}

function openAlert(id: string, findingKey: string, finding: Finding, nowMs: number): PlannedFindingAlert {
  const span = { afterMs: Date.parse(finding.since), atMs: Date.parse(finding.at) };
  const origin = { state: "open", direction: "regression", fingerprintId: null, note: null, version: 1 } as const;
  const times = { createdAtMs: nowMs, updatedAtMs: nowMs };
  return { alert: { id, ...origin, ...span, ...times, findingKey, finding }, version: null, event: "alert.opened" };
}

function end(alert: FindingAlert, nowMs: number): PlannedFindingAlert {
  return change(alert, { note: addNote(alert.note, "Resolved by itself: it is gone.") }, "resolved", nowMs);
}

function change(
  alert: FindingAlert,
  fields: Partial<Pick<FindingAlert, "finding" | "note">>,
  state: AlertState,
  nowMs: number,
): PlannedFindingAlert {
  const event = state === alert.state ? null : state === "open" ? "alert.opened" : "alert.resolved";
  const { version } = alert;
  return { alert: { ...alert, ...fields, state, version: version + 1, updatedAtMs: nowMs }, version, event };
}

/** Adds a line to a note; a repeated line moves to the end, so that a recurring finding does not lengthen the note. */
function addNote(note: string | null, line: string): string {
  const others = note === null ? [] : note.split("\n").filter((each) => each !== line);
  return [...others, line].join("\n");
}
