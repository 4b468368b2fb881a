import type { LiveReport } from "../../protocol/live.ts";

/** What the charts show. */
export const SHOWN_S = 120;
/** A runner that tells more often than it is asked to fills no memory. */
const KEPT_REPORTS = 240;

/** The reports of the last while up to a new one; those of a clock that was set back since are left out. */
export function keepRecent(reports: readonly LiveReport[], report: LiveReport): readonly LiveReport[] {
  const atMs = Date.parse(report.at);
  const recent = reports.filter(({ at }) => {
    const agoMs = atMs - Date.parse(at);
    return agoMs > 0 && agoMs <= SHOWN_S * 1_000;
  });
  return [...recent, report].slice(-KEPT_REPORTS);
}
