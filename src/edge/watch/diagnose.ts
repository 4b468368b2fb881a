import type { Diagnosis, DiagnosisCheck, HealthReport } from "../../protocol/health.ts";
import { checkDevice } from "./check-device.ts";
import { checkHost } from "./check-host.ts";
import { checkPlacement } from "./check-placement.ts";
import type { RunnerHealth } from "./runner-health.ts";

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
