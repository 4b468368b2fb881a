import { z } from "@hono/zod-openapi";
import { defineEndpoint } from "./endpoint.ts";
import { DescribedEnvironment, EnvironmentInput, EnvironmentPage } from "./environment-definition.ts";
import { idSchema } from "./id.ts";
import { Name, PageQuery } from "./page.ts";

/** Environments that policies are evaluated and trained in. */
export const environmentEndpoints = {
  submitEnvironment: defineEndpoint({
    method: "post",
    path: "/v1/environments",
    tag: "environments",
    summary: "Submit an environment in WGSL, to be run by runners that take submitted kernels",
    description:
      "The same submission of the same key again gives the environment that is there already, with status 200.",
    access: "submit",
    body: EnvironmentInput,
    repeatable: "as-it-is",
    reply: { status: 201, schema: DescribedEnvironment },
    problems: ["conflict"],
  }),
  listEnvironments: defineEndpoint({
    method: "get",
    path: "/v1/environments",
    tag: "environments",
    summary: "The environments that the registered runners announce, then the submitted ones, newest first",
    access: "read",
    query: PageQuery,
    reply: { status: 200, schema: EnvironmentPage },
  }),
  getEnvironment: defineEndpoint({
    method: "get",
    path: "/v1/environments/{environment}",
    tag: "environments",
    summary: "Describe an environment by its name or id; a submitted one with its WGSL",
    access: "read",
    params: z.object({ environment: Name.openapi({ description: "Name of an environment" }) }),
    reply: { status: 200, schema: DescribedEnvironment },
    problems: ["not-found"],
  }),
  deleteEnvironment: defineEndpoint({
    method: "delete",
    path: "/v1/environments/{id}",
    tag: "environments",
    summary: "Delete a submitted environment of one's own; its runs stay, and jobs that wait for it fail",
    access: "submit",
    params: z.object({ id: idSchema("environment") }),
    reply: { status: 204 },
    problems: ["not-found"],
  }),
} as const;
