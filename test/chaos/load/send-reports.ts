import { setTimeout as delay } from "node:timers/promises";
import { endpoints } from "../../../src/protocol/endpoints.ts";
import type { ChaosStack } from "../chaos-stack.ts";
import type { Ledger, SentReport } from "../promises/ledger.ts";

export const REPORTED = { subject: "chaos/report", metrics: ["first", "second"] } as const;
const PERIOD_MS = 500;

/** Reports runs to the history, each until the edge confirms its storage or the signal comes. */
export async function sendReports({ client }: ChaosStack, ledger: Ledger, signal: AbortSignal): Promise<void> {
  const pause = () => delay(PERIOD_MS, undefined, { signal }).catch(() => undefined);
  for (let value = 1; !signal.aborted; value++) {
    const report: SentReport = { name: `chaos-${value}`, value, runId: null };
    ledger.reports.push(report);
    const measurements = REPORTED.metrics.map((metric) => ({ subject: REPORTED.subject, metric, unit: "ms", value }));
    for (; !signal.aborted && report.runId === null; await pause()) {
      ledger.submissions++;
      const reply = await client
        .call(endpoints.reportPoints, { body: { run: report.name, measurements } })
        .catch(() => null);
      report.runId = reply?.run.id ?? null;
    }
  }
}
