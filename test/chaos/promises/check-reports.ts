import type { Client } from "../../../src/client/client.ts";
import { listAll } from "../../../src/client/list-all.ts";
import { endpoints } from "../../../src/protocol/endpoints.ts";
import type { Ledger } from "./ledger.ts";
import { REPORTED } from "../load/send-reports.ts";

const PAGE = 10_000;

/** Every report that was acknowledged is in every one of its series, once; one that was not, at most once. */
export async function checkReports(client: Client, ledger: Ledger): Promise<string[]> {
  const series = await Array.fromAsync(
    listAll(client, endpoints.listSeries, { query: { subject: REPORTED.subject, limit: 200 } }),
  );
  const acknowledged = ledger.reports.filter(({ runId }) => runId !== null);
  const found: string[] = [];
  if (acknowledged.length > 0 && series.length !== REPORTED.metrics.length) {
    found.push(`reports went into ${series.length} series instead of ${REPORTED.metrics.length}`);
  }
  for (const { id, metric } of series) {
    const { points } = await client.call(endpoints.listPoints, { query: { series: id, limit: PAGE } });
    for (const { value, runId, name } of ledger.reports) {
      const own = points.filter((point) => point.mean === value);
      if (own.length > 1) found.push(`the report ${name} has ${own.length} points of ${metric}`);
      if (runId !== null && own.every((point) => point.runId !== runId)) {
        found.push(`the report ${name} was acknowledged, but ${metric} has lost its point`);
      }
    }
    if (points.length > ledger.reports.length) found.push(`${metric} has points that nobody reported`);
  }
  return found;
}
