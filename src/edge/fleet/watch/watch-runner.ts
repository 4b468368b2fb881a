import type { HealthReport } from "../../../protocol/fleet/health.ts";
import { createId } from "../../../protocol/wire/id.ts";
import { type Env, jobQueue } from "../../config.ts";
import { prepareDeliveries } from "../../history/webhooks/deliveries.ts";
import { openDatabase } from "../../store/database.ts";
import { readFindingAlerts, saveFindingAlerts } from "../../store/history/finding-store.ts";
import { listPlacementsOfRunner } from "../../store/fleet/placement-store.ts";
import { readRunnerState } from "../../store/project-store.ts";
import { describeFinding } from "../../store/history/describe-alert.ts";
import { expectationOf, findExpectation } from "./expectation.ts";
import { judgeHealth } from "./judge-health.ts";
import { planFindingAlerts } from "./plan-finding-alerts.ts";
import type { WatchLog } from "./watch-log.ts";
import type { OpenFinding } from "./watch-rule.ts";

/** Longest age of cached expectations: placements rarely change. */
const EXPECTED_MS = 60_000;
/** Longest age of cached expectations when a report has an unknown placement. */
const UNKNOWN_MS = 5_000;
/** Attempts to save alerts that others change concurrently. */
const TRIES = 3;

/** Judges the runner's reports after a new one, and updates the alerts of its findings. */
export async function watchRunner(env: Env, log: WatchLog, runnerId: string): Promise<void> {
  const nowMs = Date.now();
  const open = log.findings();
  const latest = log.latest();
  if (latest === null) return;
  const expectations = await readExpected(env, log, runnerId, latest, nowMs);
  const context = { expectations, reports: await log.reports(nowMs), memory: log.memory(), open };
  const findings = judgeHealth(runnerId, context);
  if (open.length === 0 && findings.length === 0) return;
  // Findings that could not be saved are found again with the next report.
  if (await tell(env, runnerId, findings, nowMs)) log.keepFindings(findings);
}

/**
 * Resolves the open alerts of a removed runner and deletes its reports: a report still in flight finds nothing by
 * itself.
 */
export async function endWatch(env: Env, log: WatchLog, runnerId: string): Promise<void> {
  log.clear();
  await tell(env, runnerId, [], Date.now());
}

/** Expectations of a runner's placements, cached for a limited time. */
export async function readExpected(env: Env, log: WatchLog, runnerId: string, report: HealthReport, nowMs: number) {
  const known = log.expected();
  if (known !== null) {
    const isComplete = report.placements.every((told) => findExpectation(known.expectations, told) !== null);
    if (nowMs - known.readAtMs < (isComplete ? EXPECTED_MS : UNKNOWN_MS)) return known.expectations;
  }
  const expectations = (await listPlacementsOfRunner(openDatabase(env.DB), runnerId)).map(expectationOf);
  log.keepExpected({ readAtMs: nowMs, expectations });
  return expectations;
}

/** Opens, changes and resolves alerts, and notifies subscribers. False where concurrent changes prevented it. */
async function tell(env: Env, runnerId: string, findings: readonly OpenFinding[], nowMs: number): Promise<boolean> {
  for (let attempt = 0; attempt < TRIES; attempt++) {
    const known = await readFindingAlerts(env.DB, runnerId);
    const planned = planFindingAlerts(findings, known, nowMs, () => createId("alert", nowMs));
    if (planned.length === 0) return true;
    const { project } = (await readRunnerState(openDatabase(env.DB), runnerId)) ?? {};
    if (project === undefined) return true;
    const deliveries = planned.flatMap(({ alert, event }) =>
      event === null
        ? []
        : [
            prepareDeliveries(env.DB, {
              project,
              type: event,
              alert: describeFinding(alert, alert.finding),
              atMs: nowMs,
            }),
          ],
    );
    if (!(await saveFindingAlerts(env.DB, { id: runnerId, project }, planned, deliveries))) continue;
    for (const { alert } of planned) await jobQueue(env).announce({ type: "alert", id: alert.id }, project);
    return true;
  }
  return false;
}
