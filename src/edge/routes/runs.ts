import type { Hono } from "hono";
import { endpoints } from "../../protocol/endpoints.ts";
import { ProblemError } from "../../protocol/problem.ts";
import type { Run } from "../../protocol/run.ts";
import type { Env } from "../config.ts";
import { type AppEnv, bind } from "../http/bind.ts";
import { openDatabase } from "../store/database.ts";
import { findRun } from "../store/run-store.ts";
import { getTrace, measureTrace } from "../store/trace-store.ts";

export function bindRuns(app: Hono<AppEnv>): void {
  bind(app, endpoints.getRun, async ({ env, params }) => {
    const run = await mustFind(env, params.id);
    return { ...run, traceBytes: await measureTrace(env.ARTIFACTS, run) };
  });

  bind(app, endpoints.getRunTrace, async ({ env, params }) => {
    const trace = await getTrace(env.ARTIFACTS, await mustFind(env, params.id));
    if (trace === null) throw new ProblemError("not-found", `There is no trace of the run ${params.id}.`);
    return new Response(trace.body, {
      headers: { "content-type": "application/json", "content-length": String(trace.size), etag: trace.httpEtag },
    });
  });
}

async function mustFind(env: Env, id: string): Promise<Omit<Run, "traceBytes">> {
  const run = await findRun(openDatabase(env.DB), id);
  if (run === null) throw new ProblemError("not-found", `There is no run ${id}.`);
  return run;
}
