import { LIMITS } from "../../protocol/wire/limits.ts";
import { limitMetrics, type MetricFamily } from "../../telemetry/metric.ts";
import { type Env, jobQueue, runnerLink } from "../config.ts";
import { untilDeadline } from "../clock.ts";
import { type MetricRunner, readMetricRows } from "../store/history/metric-store.ts";
import { describeFleet, type KnownRunner } from "./describe-fleet.ts";
import { describeJobs, describeService } from "./describe-service.ts";
import { describeRequests } from "./describe-requests.ts";

/** So long an answer is given again. The next scrape comes much later, and finds no counter lower than this one did. */
const FRESH_MS = 3_000;
const ANSWER_MS = 1_000;

/** The last answer of this isolate: its values, since promises belong to the request that made them. */
let last: { readonly families: readonly MetricFamily[]; readonly readAtMs: number } | null = null;

/**
 * All metrics of the service, at most some seconds old, from the database and the objects and from nothing that an
 * isolate counted: those come and go.
 */
export async function collectMetrics(env: Env): Promise<readonly MetricFamily[]> {
  const nowMs = Date.now();
  if (last !== null && nowMs - last.readAtMs < FRESH_MS) return last.families;
  const families = await readFamilies(env, nowMs);
  // A read that took longer does not bring back what a later one has replaced.
  if (last === null || last.readAtMs < nowMs) last = { families, readAtMs: nowMs };
  return families;
}

/** Forgets the last answer. */
export function forgetMetrics(): void {
  last = null;
}

async function readFamilies(env: Env, nowMs: number): Promise<MetricFamily[]> {
  const [rows, jobs] = await Promise.all([readMetricRows(env.DB), jobQueue(env).counts()]);
  const runners = await askLinks(env, rows.runners);
  const families = [
    ...describeService(rows),
    ...describeFleet(runners, nowMs),
    ...describeJobs(jobs, nowMs),
    ...describeRequests(rows.requests),
  ];
  return limitMetrics(families, LIMITS.metricSeries);
}

/** What the links of the first runners know of them; of those that are away there is nothing to ask. */
async function askLinks(env: Env, runners: readonly MetricRunner[]): Promise<KnownRunner[]> {
  const links = await Promise.all(
    runners.slice(0, LIMITS.metricRunners).map(({ id }) => {
      const state = runnerLink(env, id).tellState();
      return untilDeadline(ANSWER_MS, Promise.resolve(state)).catch(() => null);
    }),
  );
  return runners.map((runner, index) => ({ ...runner, link: links[index] ?? null }));
}
