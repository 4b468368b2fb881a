import type { Hono } from "hono";
import { endpoints } from "../../protocol/endpoints.ts";
import { ProblemError } from "../../protocol/problem.ts";
import type { JobRun, ReportRun } from "../../protocol/run.ts";
import type { ProjectEnv } from "../config.ts";
import { type AppEnv, bind } from "../http/bind.ts";
import { openProject } from "../store/database.ts";
import { findReport, toReportRun } from "../store/report-store.ts";
import { findRun } from "../store/run-store.ts";
import { getSamples, measureSamples, type SamplesOf } from "../store/sample-store.ts";
import { getTrace, measureTrace } from "../store/trace-store.ts";

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

/** A run, less what only the bucket knows of it, and where its samples are if there are any. */
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
