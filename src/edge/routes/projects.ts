import type { Hono } from "hono";
import { endpoints } from "../../protocol/endpoints.ts";
import { ProblemError } from "../../protocol/problem.ts";
import { MAIN_PROJECT } from "../../protocol/project.ts";
import type { ProjectEnv } from "../config.ts";
import { forgetCachedKeys } from "../http/auth.ts";
import { type AppEnv, bind } from "../http/bind.ts";
import { openDatabase, openProject } from "../store/database.ts";
import { closeProject, createProject, listProjects } from "../store/project-store.ts";
import { readRunnerIds } from "../store/runner-store.ts";
import { jobQueue } from "../stubs.ts";
import { endRunner } from "./runners.ts";

const JOBS_PAGE = 200;

export function bindProjects(app: Hono<AppEnv>): void {
  bind(app, endpoints.createProject, async ({ env, body: { name } }) => {
    const project = await createProject(openDatabase(env.DB), name);
    if (project !== null) return project;
    const errors = [{ pointer: "#/name", message: "is taken" }];
    throw new ProblemError("conflict", `There is a project ${name} already, or there was one.`, { errors });
  });
  bind(app, endpoints.listProjects, ({ env, query }) => listProjects(openDatabase(env.DB), query));
  bind(app, endpoints.closeProject, async ({ env, params: { name } }) => {
    if (name === MAIN_PROJECT) throw new ProblemError("conflict", "The operator's own project cannot be closed.");
    const project = await closeProject(openDatabase(env.DB), name);
    if (project === null) throw new ProblemError("not-found", `There is no project ${name}.`);
    forgetCachedKeys();
    const theirs = { ...env, project: name };
    await cancelJobs(theirs);
    for (const id of await readRunnerIds(openProject(theirs))) await endRunner(theirs, id);
    return project;
  });
}

/** Cancels what a project still has queued or under work: shared runners are for others now. */
async function cancelJobs(env: ProjectEnv): Promise<void> {
  const queue = jobQueue(env);
  for (const state of ["queued", "leased"] as const) {
    for (let isMore = true; isMore;) {
      const { items, nextCursor } = await queue.list(env.project, { state, limit: JOBS_PAGE }, null);
      await Promise.all(items.map(({ id }) => queue.cancel(env.project, id)));
      isMore = nextCursor !== null;
    }
  }
}
