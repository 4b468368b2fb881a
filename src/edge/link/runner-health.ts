import type { HealthReport } from "../../protocol/fleet/health.ts";
import type { Env } from "../config.ts";
import { addMemorySample } from "../fleet/watch/memory-sample.ts";
import type { WatchLog } from "../fleet/watch/watch-log.ts";
import type { RunnerHealth } from "../fleet/watch/watch-rule.ts";
import { readExpected } from "../fleet/watch/watch-runner.ts";
import type { LinkOutcome } from "./link-rpc.ts";

export async function tellHealth(
  env: Env,
  log: WatchLog,
  runnerId: string,
  outcome: LinkOutcome<HealthReport>,
  online: boolean,
): Promise<RunnerHealth> {
  const nowMs = Date.now();
  const asked = outcome.ok ? { ...outcome.answer, at: new Date(nowMs).toISOString() } : null;
  const report = asked ?? log.latest();
  if (report === null) {
    if (outcome.ok) throw new Error("an answer without a report");
    return { ok: false, problem: outcome.problem };
  }
  const memory = outcome.ok ? addMemorySample(log.memory(), outcome.answer) : log.memory();
  const expectations = await readExpected(env, log, runnerId, report, nowMs);
  const context = { expectations, reports: await log.reports(nowMs), memory, open: log.findings() };
  return { ok: true, online, fresh: outcome.ok, report, context };
}
