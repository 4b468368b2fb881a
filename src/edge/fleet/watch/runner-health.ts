import type { HealthReport } from "../../../protocol/fleet/health.ts";
import type { Problem } from "../../../protocol/wire/problem.ts";
import type { Env } from "../../config.ts";
import { addMemorySample } from "./memory-sample.ts";
import type { WatchLog } from "./watch-log.ts";
import { readExpected } from "./watch-runner.ts";
import type { WatchContext } from "./watch-rule.ts";

/** How a runner is, by its own word just now or by the last that it sent; a problem where there is neither. */
export type RunnerHealth =
  | { readonly ok: false; readonly problem: Problem }
  | {
      readonly ok: true;
      readonly online: boolean;
      /** Whether it answered just now. */
      readonly fresh: boolean;
      readonly report: HealthReport;
      readonly context: WatchContext;
    };

/** The runner's answer just now, or the reason for none. */
type Asked = { readonly ok: true; readonly answer: HealthReport } | { readonly ok: false; readonly problem: Problem };

export async function tellHealth(
  env: Env,
  log: WatchLog,
  runnerId: string,
  outcome: Asked,
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
  const context = { expectations, reports: log.reports(nowMs), memory, open: log.findings() };
  return { ok: true, online, fresh: outcome.ok, report, context };
}
