import { z } from "@hono/zod-openapi";
import { Instant, Name, pageOf } from "./page.ts";

/** The operator's own project: always there, and its admin keys look after the others. */
export const MAIN_PROJECT = "main";

/** A tenant: whoever holds its keys sees its models, jobs and history, and nobody else's. */
export const Project = z
  .object({
    name: Name,
    createdAt: Instant.nullable().openapi({ description: "Null of `main`, which is always there" }),
    closedAt: Instant.nullable().openapi({ description: "When its keys were revoked" }),
  })
  .openapi("Project");
export type Project = z.infer<typeof Project>;

export const ProjectInput = z.strictObject({ name: Name }).openapi("ProjectInput");
export const ProjectPage = pageOf(Project, "Project");
