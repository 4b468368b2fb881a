import type { Distribution } from "../../protocol/distribution.ts";
import type { HealthReport, PlacementHealth } from "../../protocol/health.ts";
import { isSameConfiguration } from "../../protocol/serving-configuration.ts";
import { type Aggregate, mergeAggregates } from "../../stats/distribution.ts";

/** One probe tells nothing. */
const LEAST_PROBES = 2;
/** How far to look back for them: a slow model is probed seldom. */
const LOOK_BACK_MS = 300_000;

export interface RecentProbes {
  readonly serviceMs: Aggregate;
  readonly computeMs: Aggregate | null;
  /** Whether none could have been made since: slow ones use up the time that probes may take, jobs need it for themselves. */
  readonly isLatest: boolean;
}

/** A placement's probes up to a report: its own, and as many reports back as it takes for enough; null where there are not. */
export function recentProbes(
  told: PlacementHealth,
  report: HealthReport,
  reports: readonly HealthReport[],
): RecentProbes | null {
  const service: Distribution[] = [];
  const compute: Distribution[] = [];
  let count = 0;
  const fromMs = Date.parse(report.at) - LOOK_BACK_MS;
  const upTo = reports.filter(({ at, startedAt }) => at <= report.at && startedAt === report.startedAt);
  for (const each of upTo.toReversed()) {
    if (count >= LEAST_PROBES || Date.parse(each.at) < fromMs) break;
    const same = each.placements.find((other) => isSame(other, told));
    if (same?.serviceMs == null) continue;
    count += same.serviceMs.count;
    service.push(same.serviceMs);
    if (same.computeMs !== null) compute.push(same.computeMs);
  }
  if (count < LEAST_PROBES) return null;
  const computeMs = compute.length === 0 ? null : mergeAggregates(compute);
  return { serviceMs: mergeAggregates(service), computeMs, isLatest: told.serviceMs !== null || report.jobShare < 0.5 };
}

function isSame(a: PlacementHealth, b: PlacementHealth): boolean {
  return (
    a.modelVersionId === b.modelVersionId &&
    a.variant === b.variant &&
    a.deviceKey === b.deviceKey &&
    a.backend === b.backend &&
    isSameConfiguration(a.configuration, b.configuration)
  );
}
