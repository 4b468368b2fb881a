import type { Diagnosis, DiagnosisCheck, HealthReport, PlacementHealth } from "../../../protocol/fleet/health.ts";
import type { Requirement } from "../../../protocol/models/requirement.ts";
import { aggregateQuantile, mergeAggregates } from "../../../stats/distribution/distribution.ts";
import { binomialCdf } from "../../../stats/distribution/intervals.ts";
import { countAbove } from "../../../stats/distribution/read-sketch.ts";
import { type Expectation, findExpectation } from "../watch/expectation.ts";
import { ADVICE, makeCheck, type RunnerHealth, type WatchContext } from "../watch/watch-rule.ts";
import { checkDevice } from "./check-device.ts";
import { checkHost } from "./check-host.ts";

/** Significance level of a pass or a fail. */
const CHANCE = 0.05;
const DEFAULT_PERCENTILE = 0.99;

/**
 * Checks a placement's probes against the latency that its validation required on the runner. Probes are few, so both
 * outcomes are tests. It fails if too many exceed the bound for the percentile; it passes if so few would be unlikely
 * were the bound missed.
 */
function checkPlacement(
  told: PlacementHealth,
  reports: readonly HealthReport[],
  { expectations }: WatchContext,
): DiagnosisCheck[] {
  const expectation = findExpectation(expectations, told);
  if (expectation === null) return [];
  const parts = reports.flatMap(({ placements }) =>
    placements
      .filter((each) => findExpectation([expectation], each) !== null)
      .flatMap(({ serviceMs }) => serviceMs ?? []),
  );
  const probed = parts.length === 0 ? null : mergeAggregates(parts);
  const required = expectation.requirements.filter(isOfProbes);
  if (required.length === 0) return [withoutRequirement(expectation, probed)];
  return required.map((requirement) => checkLatency(expectation, requirement, probed));
}

/** Whether a requirement applies to probes, which are single queries on the runner itself. */
function isOfProbes({ metric, scenario, path, atMost }: Requirement): boolean {
  const isSingle = scenario === undefined || scenario === "singleStream";
  return metric === "latencyMs" && isSingle && path !== "edge" && atMost !== undefined;
}

type Probed = ReturnType<typeof mergeAggregates> | null;

function withoutRequirement({ placementId, deviceKey, subject }: Expectation, probed: Probed): DiagnosisCheck {
  return makeCheck("p99", {
    deviceKey,
    placementId,
    measured: probed === null ? null : aggregateQuantile(probed, DEFAULT_PERCENTILE),
    limit: null,
    unit: "ms",
    outcome: "unknown",
    advice: ADVICE.p99,
    detail: `${subject} was validated under no latency that probes could be held against.`,
  });
}

function checkLatency(
  { placementId, deviceKey, subject }: Expectation,
  { percentile = DEFAULT_PERCENTILE, atMost: limit = 0 }: Requirement,
  probed: Probed,
): DiagnosisCheck {
  const count = probed?.count ?? 0;
  const over = probed === null ? 0 : countAbove(probed.sketch, limit);
  const tooMany = 1 - binomialCdf(over - 1, count, 1 - percentile) <= CHANCE;
  const isEnough = binomialCdf(over, count, 1 - percentile) <= CHANCE;
  return makeCheck("p99", {
    deviceKey,
    placementId,
    limit,
    unit: "ms",
    advice: ADVICE.p99,
    measured: probed === null ? null : aggregateQuantile(probed, percentile),
    outcome: count === 0 ? "unknown" : tooMany ? "fail" : isEnough ? "pass" : "unknown",
    detail: `${over} of the last ${count} probes of ${subject} took more than ${limit} ms, where ${Number((100 * percentile).toPrecision(5))} % must not.`,
  });
}

/** A runner's checklist and the watch's open findings. */
export function diagnose(runnerId: string, health: Extract<RunnerHealth, { ok: true }>): Diagnosis {
  const { online, fresh, report, context } = health;
  const checks: DiagnosisCheck[] = [
    ...report.devices.flatMap((device) => checkDevice(device, report, context)),
    ...checkHost(report, context),
    ...report.placements.flatMap((told) => checkPlacement(told, withLatest(context.reports, report), context)),
  ];
  const findings = context.open.map(({ finding }) => finding);
  const healthy = findings.length === 0 && checks.every(({ outcome }) => outcome !== "fail");
  return { runnerId, online, fresh, reportedAt: report.at, healthy, checks, findings, report };
}

/** Reports with this one as the latest. A requested report overlaps the last one's span, so it replaces it. */
function withLatest(reports: readonly HealthReport[], report: HealthReport): readonly HealthReport[] {
  return [...reports.slice(0, -1), report];
}
