import type { OipStats } from "../../../protocol/inference/oip.ts";
import { LIMITS } from "../../../protocol/wire/limits.ts";
import type { ProjectEnv } from "../../config.ts";
import { refusalLinkOf, settleOutcomes } from "../../inference/outcome-log.ts";
import type { Snapshot, Version } from "../../inference/snapshot.ts";
import { readRequestTotals, type RequestTotals } from "../../store/history/total-store.ts";

type Statistics = Omit<OipStats["model_stats"][number], "name" | "version">;

/** Statistics begin anew with each day, so that a reply never reads the whole history. */
const DAY_MS = 86_400_000;

/** Statistics of versions, after the requests so far have moved to the history. */
export async function describeStatistics(
  env: ProjectEnv,
  snapshot: Snapshot,
  versions: readonly Version[],
): Promise<OipStats> {
  const described = versions.slice(-LIMITS.oipStatisticsVersions);
  await settleOutcomes(env, linksOf(snapshot, described));
  const nowMs = Date.now();
  const totals = await readRequestTotals(env, described.map(subjectOf), nowMs - (nowMs % DAY_MS));
  const bySubject = Map.groupBy(totals, ({ subject }) => subject);
  return {
    model_stats: described.map((version) => ({
      name: version.model,
      version: String(version.version),
      ...addUpTotals(bySubject.get(subjectOf(version)) ?? []),
    })),
  };
}

function subjectOf({ model, version }: Version): string {
  return `${model}@${version}`;
}

/** Links that may hold measurements of these versions: those of their runners, then those of their refusals. */
export function linksOf(
  { placements }: { readonly placements: ReadonlyMap<string, readonly { readonly runnerId: string }[]> },
  versions: readonly { readonly id: string }[],
): string[] {
  const runners = versions.flatMap(({ id }) => (placements.get(id) ?? []).map(({ runnerId }) => runnerId));
  const refusals = versions.flatMap(({ id }) => refusalLinkOf(id) ?? []);
  return [...new Set([...runners, ...refusals])].slice(0, LIMITS.oipStatisticsLinks);
}

/**
 * Totals of requests as Triton's statistics. Rows are its inferences and batches its executions. Each answered request
 * counts once in every part, as there; parts that were not measured, as of the edge's own answers, add no time.
 */
export function addUpTotals(totals: readonly RequestTotals[]): Statistics {
  const of = (metric: string) => totals.find((each) => each.metric === metric) ?? { count: 0, sum: 0 };
  const answered = of("rows");
  const duration = (count: number, ms: number) => ({ count, ns: Math.max(0, Math.round(1e6 * ms)) });
  const part = (metric: string) => duration(answered.count, of(metric).sum);
  const lostMs = of("lostMs").sum;
  const failed = totals.reduce((sum, { metric, count }) => sum + (metric.startsWith("refused.") ? count : 0), 0);
  return {
    inference_count: answered.sum,
    execution_count: Math.round(of("executions").sum),
    inference_stats: {
      success: duration(answered.count, of("totalMs").sum - lostMs),
      fail: duration(failed, lostMs),
      queue: part("queueMs"),
      compute_input: part("uploadMs"),
      compute_infer: part("computeMs"),
      compute_output: part("readbackMs"),
      cache_hit: duration(0, 0),
      cache_miss: duration(0, 0),
    },
  };
}
