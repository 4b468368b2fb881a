import type { Hono } from "hono";
import { endpoints } from "../../protocol/endpoints.ts";
import { MAIN_PROJECT } from "../../protocol/service/project.ts";
import type { ProjectQuotas } from "../../protocol/service/quota.ts";
import { ProblemError } from "../../protocol/wire/problem.ts";
import { configOf, type Env, jobQueue, type ProjectEnv } from "../config.ts";
import { forgetCachedKeys } from "../http/auth.ts";
import { type AppEnv, bind } from "../http/bind.ts";
import { openDatabase, openProject } from "../store/database.ts";
import { readRunnerIds } from "../store/fleet/runner-store.ts";
import { createKey, listKeys, revokeKey, rotateKey } from "../store/key-store.ts";
import {
  closeProject,
  createProject,
  isProject,
  isProjectOpen,
  listAuditEntries,
  listProjects,
} from "../store/project-store.ts";
import { endRunner } from "../fleet/change-runner.ts";
import { quotaExceeded } from "../store/quotas/quota-problem.ts";
import { readQuotas, setQuotas } from "../store/quotas/quota-store.ts";

export function bindKeys(app: Hono<AppEnv>): void {
  bind(app, endpoints.createKey, async ({ env, body }) => {
    const { project = env.project } = body;
    if (project !== env.project) await checkProject(env, project);
    checkRate(env, body.requestsPerSecond);
    const theirs = { ...env, project };
    const key = await createKey(openProject(theirs), body);
    if (key === null) throw await quotaExceeded(theirs, { keys: 1 });
    return key;
  });
  bind(app, endpoints.rotateKey, async ({ env, params, body }) => {
    const outcome = await rotateKey(openProject(env), params.id, body.overlapMs);
    if (outcome.kind !== "rotated") {
      if (outcome.kind === "revoked") throw new ProblemError("conflict", `The key ${params.id} was revoked.`);
      throw new ProblemError("not-found", `There is no key ${params.id}.`);
    }
    forgetCachedKeys();
    return outcome.key;
  });
  bind(app, endpoints.listAuditEntries, ({ env, query }) => listAuditEntries(openProject(env), query));
  bind(app, endpoints.listKeys, ({ env, query }) => listKeys(openProject(env), query));
  bind(app, endpoints.revokeKey, async ({ env, params }) => {
    const key = await revokeKey(openProject(env), params.id);
    if (key === null) throw new ProblemError("not-found", `There is no key ${params.id}.`);
    forgetCachedKeys();
    return key;
  });
}

/** Limits a tenant's keys to the rate that the operator lets every key have. */
function checkRate(env: ProjectEnv, requestsPerSecond: number | undefined): void {
  const { keyRequestsPerSecond } = configOf(env);
  if (env.project === MAIN_PROJECT || (requestsPerSecond ?? 0) <= keyRequestsPerSecond) return;
  const message = `must be at most ${keyRequestsPerSecond}`;
  const errors = [{ pointer: "#/requestsPerSecond", message }];
  throw new ProblemError("forbidden", `A key's limit ${message}, unless the operator gives it.`, { errors });
}

/** Only the operator may make keys of other projects. */
async function checkProject(env: ProjectEnv, project: string): Promise<void> {
  const refuse = (code: "forbidden" | "not-found", detail: string, message: string) =>
    new ProblemError(code, detail, { errors: [{ pointer: "#/project", message }] });
  if (env.project !== MAIN_PROJECT) {
    throw refuse("forbidden", "Only the operator makes keys of other projects.", "must be the key's own project");
  }
  if (!(await isProjectOpen(openProject(env), project))) {
    throw refuse("not-found", `There is no open project ${project}.`, "is not an open project");
  }
}

export function bindProjects(app: Hono<AppEnv>): void {
  bind(app, endpoints.createProject, async ({ env, body: { name } }) => {
    const project = await createProject(openDatabase(env.DB), name);
    if (project !== null) return project;
    const errors = [{ pointer: "#/name", message: "is taken" }];
    throw new ProblemError("conflict", `There is a project ${name} already, or there was one.`, { errors });
  });
  bind(app, endpoints.getProject, ({ env }) => describeQuotas(env, env.project));
  bind(app, endpoints.getQuotas, async ({ env, params: { name } }) => {
    await mustBeThere(env, name);
    return describeQuotas(env, name);
  });
  bind(app, endpoints.setQuotas, async ({ env, params: { name }, body }) => {
    await mustBeThere(env, name);
    await setQuotas(env.DB, name, body);
    return describeQuotas(env, name);
  });
  bind(app, endpoints.listProjects, ({ env, query }) => listProjects(openDatabase(env.DB), query));
  bind(app, endpoints.closeProject, async ({ env, params: { name } }) => {
    if (name === MAIN_PROJECT) throw new ProblemError("conflict", "The operator's own project cannot be closed.");
    const project = await closeProject(openDatabase(env.DB), name);
    if (project === null) throw noProject(name);
    forgetCachedKeys();
    const theirs = { ...env, project: name };
    await jobQueue(env).cancelAll(name);
    const ids = await readRunnerIds(openProject(theirs));
    const ended = await Promise.allSettled(ids.map((id) => endRunner(theirs, id)));
    // One that could not be ended holds up no other.
    const failed = ended.find(({ status }) => status === "rejected");
    if (failed?.status === "rejected") throw failed.reason;
    return project;
  });
}

async function describeQuotas(env: Env, project: string): Promise<ProjectQuotas> {
  return { project, quotas: await readQuotas(env.DB, project, await jobQueue(env).usage(project)) };
}

/** A closed project has quotas, too: what it stored stays. */
async function mustBeThere(env: Env, name: string): Promise<void> {
  if (!(await isProject(openDatabase(env.DB), name))) throw noProject(name);
}

function noProject(name: string): ProblemError {
  return new ProblemError("not-found", `There is no project ${name}.`);
}
