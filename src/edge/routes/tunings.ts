import type { Hono } from "hono";
import { endpoints } from "../../protocol/endpoints.ts";
import { ProblemError } from "../../protocol/wire/problem.ts";
import { type StoredTuningRecord, TuningRecord } from "../../protocol/jobs/tuning.ts";
import type { ProjectEnv } from "../config.ts";
import { type AppEnv, bind } from "../http/bind.ts";
import { openProject } from "../store/database.ts";
import { findTuning, listTunings } from "../store/kernels/tuning-store.ts";

export function bindTunings(app: Hono<AppEnv>): void {
  bind(app, endpoints.listTunings, ({ env, query }) => listTunings(openProject(env), query));
  bind(app, endpoints.getTuning, ({ env, params }) => mustFind(env, params.id));
  // The record's owner is no business of another runner.
  bind(app, endpoints.fetchTuning, async ({ env, params }) => TuningRecord.parse(await mustFind(env, params.id)));
}

async function mustFind(env: ProjectEnv, id: string): Promise<StoredTuningRecord> {
  const found = await findTuning(openProject(env), id);
  if (found === null) throw new ProblemError("not-found", `There is no tuning ${id}.`);
  return found;
}
