import type { OipStats } from "../../../protocol/inference/oip.ts";
import type { RequestTotals } from "../../store/history/total-store.ts";

type Statistics = Omit<OipStats["model_stats"][number], "name" | "version">;

/**
 * Totals of requests as Triton's statistics. Rows are its inferences and batches its executions: a request of r rows in
 * a batch of b counts r/b of one.
 */
export function addUpTotals(totals: readonly RequestTotals[]): Statistics {
  const of = (isMeant: (metric: string) => boolean) => totals.filter(({ metric }) => isMeant(metric));
  const add = (metric: string) => {
    const found = of((each) => each === metric);
    return { count: addUp(found, ({ count }) => count), sum: addUp(found, ({ sum }) => sum) };
  };
  const duration = (count: number, ms: number) => ({ count, ns: Math.max(0, Math.round(1e6 * ms)) });
  const part = (metric: string) => duration(add(metric).count, add(metric).sum);
  const rows = add("rows");
  const lostMs = add("lostMs").sum;
  const executions = addUp(
    of((metric) => metric === "rows"),
    ({ sum, batch }) => sum / (batch ?? 1),
  );
  const failed = addUp(
    of((metric) => metric.startsWith("refused.")),
    ({ count }) => count,
  );
  return {
    inference_count: rows.sum,
    execution_count: Math.round(executions),
    inference_stats: {
      success: duration(rows.count, add("totalMs").sum - lostMs),
      fail: duration(failed, lostMs),
      queue: part("queueMs"),
      compute_input: part("uploadMs"),
      compute_infer: part("computeMs"),
      compute_output: part("readbackMs"),
    },
  };
}

function addUp(totals: readonly RequestTotals[], value: (each: RequestTotals) => number): number {
  return totals.reduce((sum, each) => sum + value(each), 0);
}
