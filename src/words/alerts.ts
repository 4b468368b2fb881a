import type { FindingKind } from "../protocol/fleet/health.ts";
import type {
  Alert,
  AlertAction,
  AlertKind,
  AlertState,
  Change,
  ChangeEvidence,
  FoundChange,
} from "../protocol/history/alert.ts";
import { formatMeasure, formatNumber, formatShare, signed } from "./numbers.ts";
import type { Tone } from "./tone.ts";

/** Tone and text of each alert state. */
export const ALERT_STATES: Record<AlertState, readonly [Tone, string]> = {
  open: ["bad", "open"],
  acknowledged: ["busy", "acknowledged"],
  resolved: ["good", "resolved"],
  dismissed: ["quiet", "dismissed"],
  muted: ["quiet", "muted"],
};

const ACTIONS_OF: Record<AlertState, readonly AlertAction[]> = {
  open: ["acknowledge", "resolve", "dismiss", "mute"],
  acknowledged: ["resolve", "dismiss", "mute", "reopen"],
  muted: ["acknowledge", "resolve", "dismiss", "reopen"],
  resolved: ["mute", "reopen"],
  dismissed: ["mute", "reopen"],
};

/** Actions that an alert in this state allows. For changes, their series are muted. */
export function actionsOf({ kind, state }: { kind: AlertKind; state: AlertState }): readonly AlertAction[] {
  return ACTIONS_OF[state].filter((action) => action !== "mute" || kind === "finding");
}

/** Findings of the watch in the words of the page. */
export const FINDING_WORDS: Record<FindingKind, string> = {
  "thermal-throttling": "throttled by heat",
  "host-contention": "slowed by other processes",
  "slow-backend": "slow backend",
  "latency-drift": "slower for no cause that is seen",
  "low-utilisation": "badly used",
  "memory-growth": "growing memory",
  errors: "errors",
  queueing: "queueing",
};

export const ACTION_WORDS: Record<AlertAction, { readonly press: string; readonly done: string }> = {
  acknowledge: { press: "Acknowledge", done: "acknowledged" },
  mute: { press: "Mute", done: "muted" },
  resolve: { press: "Resolve", done: "resolved" },
  dismiss: { press: "Dismiss", done: "dismissed" },
  reopen: { press: "Reopen", done: "open again" },
};

/** Short title of an alert. */
export function nameAlert({ leading, finding }: Pick<Alert, "leading" | "finding">): string {
  if (finding !== null) return finding.subject ?? finding.deviceKey ?? finding.runnerId;
  return leading === null ? "" : nameChange(leading);
}

/** Short title of a change: the series that moved. */
export function nameChange({ series }: Pick<Change, "series">): string {
  return `${series.subject} ${series.metric}${series.label === null ? "" : ` on ${series.label}`}`;
}

/** Other series that moved at the same time on the same device; null if there are none. */
export function describeNeighbours({
  scope,
  changes,
  subjects,
}: Pick<Alert, "scope" | "changes" | "subjects">): string | null {
  if (scope === "machine")
    return `${changes} changes of ${subjects} subjects on the same device: the machine, more likely than your code`;
  return changes > 1 ? `${changes} changes of the same subject at the same time` : null;
}

/** The open ones first, then by when they began; each once. */
export function orderAlerts(alerts: readonly Alert[]): Alert[] {
  const unique = [...new Map(alerts.map((alert) => [alert.id, alert])).values()];
  const rank = ({ state }: Alert) => (state === "open" ? 0 : 1);
  return unique.toSorted((a, b) => rank(a) - rank(b) || b.createdAt.localeCompare(a.createdAt));
}

const KINDS: Record<FoundChange["kind"], string> = { step: "step", drift: "drift", threshold: "limit broken" };

/** The highest confidence that is shown: a measurement proves no more. */
const SUREST = 0.999;

/** Size of a move: `+9.8 %`, or the absolute difference where there is no share. */
export function describeMove({
  relativeChange,
  from,
  to,
}: Pick<FoundChange, "relativeChange" | "from" | "to">): string {
  return relativeChange === null ? signed(to - from, formatNumber) : signed(relativeChange, formatShare);
}

/** From where to where: `p50 from 10 ms to 11 ms`. */
export function describeLevels({ statistic, from, to }: FoundChange, unit: string): string {
  return `${statistic} from ${formatMeasure(from, unit)} to ${formatMeasure(to, unit)}`;
}

/** Kind of a change, and its duration if it was gradual. */
export function describeKind({ kind, limits }: Pick<FoundChange, "kind" | "limits">): string {
  return limits === null ? KINDS[kind] : `${KINDS[kind]} (${limits.threshold})`;
}

/** The confidence with the range of the share; says so where there is none. */
export function describeSureness({
  confidence,
  interval,
  noiseFloor,
  pointsBefore,
  pointsAfter,
}: ChangeEvidence): string {
  const sure =
    confidence === null
      ? "not rated"
      : `${confidence > SUREST ? "more than " : ""}${formatShare(Math.min(confidence, SUREST))} sure`;
  const range =
    interval === null ? "" : `, between ${signed(interval.low, formatShare)} and ${signed(interval.high, formatShare)}`;
  const floor = noiseFloor === null ? "" : `; ${formatShare(noiseFloor)} counts as noise`;
  return `${sure}${range}, from ${pointsBefore} points before and ${pointsAfter} after${floor}`;
}
