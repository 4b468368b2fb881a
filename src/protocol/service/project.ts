import { z } from "zod";
import { defineEndpoint } from "../endpoint.ts";
import { Instant, Name, pageOf, PageQuery } from "../wire/page.ts";
import { ProjectQuotas, QuotaLimits } from "./quota.ts";

/** The operator's own project: always there, and its admin keys look after the others. */
export const MAIN_PROJECT = "main";

/** A tenant: its keys see its models, jobs and history, and nothing of other projects. */
export const Project = z
  .object({
    name: Name,
    createdAt: Instant.nullable().meta({ description: "Null of `main`, which is always there" }),
    closedAt: Instant.nullable().meta({ description: "When its keys were revoked" }),
  })
  .meta({ id: "Project" });
export type Project = z.infer<typeof Project>;

const ProjectInput = z.strictObject({ name: Name }).meta({ id: "ProjectInput" });
const ProjectPage = pageOf(Project, "Project");

const byName = z.object({ name: Name.meta({ description: "Name of a project" }) });

/** Routes of the operator, who manages the tenants, and what every tenant sees of itself. */
export const projectEndpoints = {
  getProject: defineEndpoint({
    method: "get",
    path: "/v1/project",
    tag: "keys",
    summary: "The key's own project: how much of each quota it uses",
    access: "read",
    isHeavy: true,
    asksQueue: true,
    reply: { status: 200, schema: ProjectQuotas },
  }),
  createProject: defineEndpoint({
    method: "post",
    path: "/v1/projects",
    tag: "keys",
    summary: "Open a project; its first key is made with `POST /v1/keys` and its name",
    access: "admin",
    isOperators: true,
    body: ProjectInput,
    reply: { status: 201, schema: Project },
    problems: ["conflict"],
  }),
  listProjects: defineEndpoint({
    method: "get",
    path: "/v1/projects",
    tag: "keys",
    summary: "Projects by name",
    access: "admin",
    isOperators: true,
    query: PageQuery,
    reply: { status: 200, schema: ProjectPage },
  }),
  closeProject: defineEndpoint({
    method: "delete",
    path: "/v1/projects/{name}",
    tag: "keys",
    summary: "Revoke all keys of a project for good, remove its runners and cancel its jobs; what it stored stays",
    access: "admin",
    isOperators: true,
    params: byName,
    reply: { status: 200, schema: Project },
    problems: ["not-found", "conflict"],
  }),
  getQuotas: defineEndpoint({
    method: "get",
    path: "/v1/projects/{name}/quotas",
    tag: "keys",
    summary: "How much of each quota a project uses",
    access: "admin",
    isOperators: true,
    params: byName,
    reply: { status: 200, schema: ProjectQuotas },
    problems: ["not-found"],
  }),
  setQuotas: defineEndpoint({
    method: "put",
    path: "/v1/projects/{name}/quotas",
    tag: "keys",
    summary: "Set the quotas of a project; one that is not named gets its default",
    access: "admin",
    isOperators: true,
    params: byName,
    body: QuotaLimits,
    reply: { status: 200, schema: ProjectQuotas },
    problems: ["not-found"],
  }),
};
