import type { Hono } from "hono";
import { endpoints } from "../../protocol/endpoints.ts";
import type { ReportReply } from "../../protocol/history/report.ts";
import type { JobRun, ReportRun } from "../../protocol/history/run.ts";
import { ProblemError } from "../../protocol/wire/problem.ts";
import { jobQueue, type ProjectEnv } from "../config.ts";
import { searchLanded } from "../history/detect/detect-landed.ts";
import { readReport } from "../history/import/read-report.ts";
import { storeReport } from "../history/import/store-report.ts";
import { type AppEnv, bind } from "../http/bind.ts";
import { openProject } from "../store/database.ts";
import { findReport, getSamples, measureSamples, type SamplesOf, toReportRun } from "../store/history/report-store.ts";
import { findRun, getTrace, measureTrace } from "../store/history/run-store.ts";

export function bindReports(app: Hono<AppEnv>): void {
  bind(app, endpoints.reportPoints, async ({ c, env, principal, query }) => {
    const nowMs = Date.now();
    const report = await readReport(c.req.raw, query, nowMs);
    const stored = await storeReport(env, { ownerId: principal?.id ?? "", tool: query.format, report, nowMs });
    if (!stored.ok) throw new ProblemError(stored.problem.code, stored.problem.detail, stored.problem);
    const { run, series, created } = stored;
    if (created) {
      c.executionCtx.waitUntil(searchLanded(env, nowMs));
      c.executionCtx.waitUntil(announceSoon(env));
    }
    const reply: ReportReply = { run, points: run.points, series };
    return Response.json(reply, { status: created ? 201 : 200, headers: { location: `/v1/runs/${run.id}` } });
  });
}

/** Delay of an announcement; reports that come meanwhile share it. */
const ANNOUNCE_MS = 100;
/** Times of the next announcements of this isolate, by project. */
const announcedAtMs = new Map<string, number>();

/** Open dashboards show new points soon; the others at their next reading. */
async function announceSoon(env: ProjectEnv): Promise<void> {
  // A report may arrive before another's announcement, and be stored behind it.
  const nowMs = Date.now();
  if ((announcedAtMs.get(env.project) ?? 0) > nowMs) return;
  announcedAtMs.set(env.project, nowMs + ANNOUNCE_MS);
  await new Promise((resolve) => setTimeout(resolve, ANNOUNCE_MS));
  await Promise.resolve(jobQueue(env).announce({ type: "history", id: null }, env.project)).catch(() => undefined);
}

export function bindRuns(app: Hono<AppEnv>): void {
  bind(app, endpoints.getRun, async ({ env, params }) => {
    const { run, samples } = await mustFind(env, params.id);
    const samplesBytes = await measureSamples(env.ARTIFACTS, samples);
    if (run.origin === "report") return { ...run, samplesBytes };
    return { ...run, samplesBytes, traceBytes: await measureTrace(env.ARTIFACTS, run) };
  });

  bind(app, endpoints.getRunTrace, async ({ env, params }) => {
    const { run } = await mustFind(env, params.id);
    const trace = run.origin === "job" ? await getTrace(env.ARTIFACTS, run) : null;
    if (trace === null) throw new ProblemError("not-found", `There is no trace of the run ${params.id}.`);
    return new Response(trace.body, {
      headers: { "content-type": "application/json", "content-length": String(trace.size), etag: trace.httpEtag },
    });
  });

  bind(app, endpoints.getRunSamples, async ({ env, params }) => {
    const samples = await getSamples(env.ARTIFACTS, (await mustFind(env, params.id)).samples);
    if (samples === null) throw new ProblemError("not-found", `No samples of the run ${params.id} are kept.`);
    return new Response(samples, { headers: { "content-type": "application/json" } });
  });
}

/** A run without the parts that only the bucket holds, and the place of its samples if there are any. */
interface FoundRun {
  readonly run: Omit<JobRun, "traceBytes" | "samplesBytes"> | Omit<ReportRun, "samplesBytes">;
  readonly samples: SamplesOf;
}

async function mustFind(env: ProjectEnv, id: string): Promise<FoundRun> {
  const db = openProject(env);
  const run = await findRun(db, id);
  if (run !== null) return { run, samples: { runId: id, part: String(run.attempt) } };
  const report = await findReport(db, id);
  if (report !== null) return { run: toReportRun(report), samples: { runId: id, part: report.digest } };
  throw new ProblemError("not-found", `There is no run ${id}.`);
}
