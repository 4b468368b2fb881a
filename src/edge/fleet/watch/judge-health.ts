import type { Finding, HealthReport } from "../../../protocol/fleet/health.ts";
import { toInstant } from "../../clock.ts";
import { judgeCrowding, judgeGrowth, judgeThrottling } from "./judge-host.ts";
import { judgeErrors, judgeQueueing } from "./judge-requests.ts";
import { judgeSlowness } from "./judge-slowness.ts";
import { judgeUtilisation } from "./judge-utilisation.ts";
import type { Evidence, OpenFinding, WatchContext, WatchLevel, WatchRule } from "./watch-rule.ts";

/** Rules in order of precedence: of two findings with one key, the first counts. */
const RULES: readonly WatchRule[] = [
  judgeThrottling,
  judgeSlowness,
  judgeCrowding,
  judgeUtilisation,
  judgeQueueing,
  judgeErrors,
  judgeGrowth,
];

/** Consecutive reports that must show a finding before it opens. */
const OPEN_REPORTS = 2;
/** Consecutive reports without a finding before it closes. */
const CLOSE_REPORTS = 6;
/** Largest gap between consecutive reports, in spans, with some slack. */
const SPANS_APART = 3;

/**
 * Open findings of a runner by its last reports, including the one that has just arrived. A finding opens when the last
 * two reports show it. It closes when the last six do not show it, even by the laxer limits. Pure: times are those of
 * the reports.
 */
export function judgeHealth(runnerId: string, context: WatchContext): readonly OpenFinding[] {
  const { reports, open } = context;
  const latest = reports.at(-1);
  if (latest === undefined) return open;
  const [first, ...others] = inARow(reports).slice(-OPEN_REPORTS);
  const shown = first === undefined || others.length + 1 < OPEN_REPORTS ? [] : judge(latest, context, "open");
  const fresh = shown.filter(({ key }) => !isOpen(key, open));
  // A judgement takes some milliseconds: those that decide nothing are left out.
  const before = first === undefined || fresh.length === 0 ? [] : judge(first, context, "open");
  const opened = fresh.filter(({ key }) => isOpen(key, before));
  const held = open.length === 0 ? [] : reports.slice(-CLOSE_REPORTS).map((report) => judge(report, context, "hold"));
  return [
    ...open.flatMap(({ key, finding }) => {
      const seen = held.at(-1)?.find((each) => each.key === key);
      if (seen !== undefined) return { key, finding: toFinding(runnerId, seen, finding.since, latest.at) };
      return held.some((evidence) => isOpen(key, evidence)) ? { key, finding } : [];
    }),
    ...opened.map((evidence) => ({
      key: evidence.key,
      finding: toFinding(runnerId, evidence, beginOf(first ?? latest), latest.at),
    })),
  ];
}

function judge(report: HealthReport, context: WatchContext, level: WatchLevel): readonly Evidence[] {
  const said = RULES.flatMap((rule) => rule(report, context, level));
  return [...Map.groupBy(said, ({ key }) => key).values()].map(([first]) => first!);
}

/** Last reports of the runner's present process, without a gap. */
function inARow(reports: readonly HealthReport[]): readonly HealthReport[] {
  const latest = reports.at(-1);
  const from = reports.findLastIndex((report, index) => {
    const before = reports[index - 1];
    if (before === undefined || before.startedAt !== latest?.startedAt) return true;
    return Date.parse(report.at) - Date.parse(before.at) > SPANS_APART * report.spanMs + 1_000;
  });
  return reports.slice(Math.max(0, from));
}

function isOpen(key: string, among: readonly { readonly key: string }[]): boolean {
  return among.some((each) => each.key === key);
}

function beginOf({ at, spanMs }: HealthReport): string {
  return toInstant(Date.parse(at) - spanMs);
}

function toFinding(runnerId: string, evidence: Evidence, since: string, at: string): Finding {
  const { key: _, ...shown } = evidence;
  return { ...shown, runnerId, since, at };
}
