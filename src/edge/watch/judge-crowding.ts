import type { HealthReport } from "../../protocol/health.ts";
import { ADVICE } from "./advice.ts";
import { hostSharesOf } from "./host-shares.ts";
import { toPercent } from "./to-percent.ts";
import { OF_NO_PLACEMENT, type WatchRule } from "./watch-rule.ts";

/** Of all cores, by other processes: what is left is not what was validated, whatever single probes still find. */
const FULL_SHARE = { open: 0.8, hold: 0.6 } as const;
/** So many reports in a row, this one among them: a build or a backup comes and goes. */
const REPORTS = 2;

/**
 * Other processes that hold the cores. The scheduler lets a process through that wakes for a moment, so that a probe of
 * a small model finds nothing: it is load that will be slow.
 */
export const judgeCrowding: WatchRule = (report, { reports }, level) => {
  const upTo = reports.filter(({ at, startedAt }) => at <= report.at && startedAt === report.startedAt).slice(-REPORTS);
  const least = Math.min(...upTo.map((each) => hostSharesOf(each).others));
  if (upTo.length < REPORTS || least < FULL_SHARE[level]) return [];
  return [
    {
      key: "host-contention",
      kind: "host-contention",
      deviceKey: null,
      ...OF_NO_PLACEMENT,
      measured: hostSharesOf(report).others,
      expected: FULL_SHARE[level],
      unit: "share of the cores",
      detail: `Other processes have taken ${toPercent(least)} of the ${describeCores(report)} or more, report after report. Single probes may not be slower for it, but load will be: the rest is all that the runner can count on.`,
      advice: ADVICE.contention,
    },
  ];
};

function describeCores({ host }: HealthReport): string {
  return host.logicalCores === 1 ? "core" : `${host.logicalCores} cores`;
}
