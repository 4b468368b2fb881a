import { LIMITS } from "../../protocol/wire/limits.ts";
import { limitMetrics, type MetricFamily } from "../../telemetry/metric.ts";
import { type Env, jobQueue, runnerLink } from "../config.ts";
import { untilDeadline } from "../clock.ts";
import { type MetricRunner, readMetricRows } from "../store/history/metric-store.ts";
import { describeFleet, type KnownRunner } from "./describe-fleet.ts";
import { describeJobs, describeService } from "./describe-service.ts";
import { describeRequests } from "./describe-requests.ts";

/** Lifetime of a cached answer. The next scrape comes much later, and finds no counter lower than this one did. */
const FRESH_MS = 3_000;
const ANSWER_MS = 1_000;

/** Last answer of this isolate, as values: promises belong to the request that made them. */
let last: { readonly families: readonly MetricFamily[]; readonly readAtMs: number } | null = null;

/**
 * All metrics of the service, at most some seconds old. They come from the database and the objects, never from
 * counters of isolates, which are short-lived.
 */
export async function collectMetrics(env: Env): Promise<readonly MetricFamily[]> {
  const nowMs = Date.now();
  if (last !== null && nowMs - last.readAtMs < FRESH_MS) return last.families;
  const families = await readFamilies(env, nowMs);
  // A slow read does not replace the result of a later one.
  if (last === null || last.readAtMs < nowMs) last = { families, readAtMs: nowMs };
  return families;
}

/** Forgets the last answer. */
export function forgetMetrics(): void {
  last = null;
}

async function readFamilies(env: Env, nowMs: number): Promise<MetricFamily[]> {
  const queue = jobQueue(env);
  const [rows, jobs, unreadable] = await Promise.all([readMetricRows(env.DB), queue.counts(), queue.countUnreadable()]);
  const runners = await askLinks(env, rows.runners);
  const families = [
    ...describeService(rows),
    ...describeFleet(runners, nowMs),
    ...describeJobs(jobs, unreadable, nowMs),
    ...describeRequests(rows.requests),
  ];
  return limitMetrics(families, LIMITS.metricSeries);
}

/** States of the first runners' links; offline runners are left out, since they have no link. */
async function askLinks(env: Env, runners: readonly MetricRunner[]): Promise<KnownRunner[]> {
  const links = await Promise.all(
    runners.slice(0, LIMITS.metricRunners).map(({ id }) => {
      const state = runnerLink(env, id).tellState();
      return untilDeadline(ANSWER_MS, Promise.resolve(state)).catch(() => null);
    }),
  );
  return runners.map((runner, index) => ({ ...runner, link: links[index] ?? null }));
}
