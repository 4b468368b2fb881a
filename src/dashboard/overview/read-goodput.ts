import type { Client } from "../../client/client.ts";
import { endpoints } from "../../protocol/endpoints.ts";
import { type Goodput, sumGoodput } from "./goodput.ts";

const SPAN_MS = 3_600_000;
const MINUTE_MS = 60_000;

/** What became of the requests of the last hour, from a whole minute on. */
export async function readGoodput(client: Client, signal: AbortSignal): Promise<Goodput> {
  const toMs = Date.now();
  const fromMs = Math.floor((toMs - SPAN_MS) / MINUTE_MS) * MINUTE_MS;
  const span = { from: new Date(fromMs).toISOString(), step: "1m" };
  const ask = (selected: { readonly metric?: string; readonly unit: string }) =>
    client.call(endpoints.queryHistory, {
      query: { ...span, ...selected, subjectKind: "model", groupBy: ["metric"], percentiles: [50] },
      signal,
    });
  const [predictions, answers, refusals] = await Promise.all([
    client.call(endpoints.readPredictionCalibration, { query: span, signal }),
    ask({ metric: "rows", unit: "rows" }),
    ask({ unit: "requests" }),
  ]);
  return sumGoodput({ predictions, answers, refusals }, fromMs, toMs);
}
