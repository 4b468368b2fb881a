import type { Diagnosis, DiagnosisCheck, HealthReport, PlacementHealth } from "../../../protocol/fleet/health.ts";
import type { Requirement } from "../../../protocol/models/requirement.ts";
import { aggregateQuantile, mergeAggregates } from "../../../stats/distribution/distribution.ts";
import { binomialCdf } from "../../../stats/distribution/intervals.ts";
import { countAbove } from "../../../stats/distribution/read-sketch.ts";
import { type Expectation, findExpectation } from "../watch/expectation.ts";
import { ADVICE, makeCheck, type RunnerHealth, type WatchContext } from "../watch/watch-rule.ts";
import { checkDevice } from "./check-device.ts";
import { checkHost } from "./check-host.ts";

/** How unlikely what is seen must be under the contrary, to be told as a pass or a fail. */
const CHANCE = 0.05;
const DEFAULT_PERCENTILE = 0.99;

/**
 * A placement's probes against the latency that its validation required on the runner. Probes are few: it fails where
 * more lie above the bound than the percentile lets, and passes where so few would not if it were missed.
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

/** Probes are single queries on the runner itself. */
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

/** A runner's checklist, and what the watch has found. */
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

/** A report that was asked for repeats some of the last one's span: it stands for that one. */
function withLatest(reports: readonly HealthReport[], report: HealthReport): readonly HealthReport[] {
  return [...reports.slice(0, -1), report];
}
