import type { AlertState } from "../../../protocol/history/alert.ts";
import type { Finding } from "../../../protocol/fleet/health.ts";
import type { FindingAlert, PlannedFindingAlert } from "../../store/history/finding-store.ts";
import type { OpenFinding } from "./watch-rule.ts";

/** What comes again so soon after its alert ended is the same; later it is an alert of its own. */
const REOPEN_MS = 3_600_000;
/** So long after somebody resolved it a finding may take to go: if it has not by then, it is not resolved. */
const GRACE_MS = 300_000;
/** How often an alert is brought up to date while its finding lasts. */
const REFRESH_MS = 300_000;

/**
 * What findings mean for the alerts of their runner: one alert a key, opened with the finding, brought up to date now
 * and then, resolved when it is gone, opened again where it soon comes back. Who dismissed or muted one hears no more.
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

/** What becomes of the alert of a finding that lasts: null for nothing, undefined where it wants another alert. */
function goOn(alert: FindingAlert, finding: Finding, nowMs: number): PlannedFindingAlert | null | undefined {
  const seenAgoMs = Date.parse(finding.since) - Date.parse(alert.finding.at);
  switch (alert.state) {
    case "open":
    case "acknowledged":
    case "muted":
      if (nowMs - Date.parse(alert.finding.at) < REFRESH_MS && alert.finding.cause === finding.cause) return null;
      return change(alert, { finding }, alert.state, nowMs);
    case "dismissed":
      // As long as it lasts it is what was dismissed; so is what comes back soon.
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

/** A line that is there already moves to the end: what comes and goes all day does not grow. */
function addNote(note: string | null, line: string): string {
  const others = note === null ? [] : note.split("\n").filter((each) => each !== line);
  return [...others, line].join("\n");
}
