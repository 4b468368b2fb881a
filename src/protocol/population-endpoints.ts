import { z } from "@hono/zod-openapi";
import { defineEndpoint } from "./endpoint.ts";
import { LIMITS } from "./limits.ts";
import { PageQuery } from "./page.ts";
import { Population, PopulationPage, PopulationUploadQuery } from "./population.ts";

const byPopulation = z.object({
  population: z.string().min(1).max(128).openapi({ description: "Name or id of a population" }),
});

/** Routes of the policies that are uploaded many at once. */
export const populationEndpoints = {
  uploadPopulation: defineEndpoint({
    method: "post",
    path: "/v1/populations",
    tag: "evaluations",
    summary: "Upload many policies of one form as one npy or safetensors file",
    description:
      "float32, members × parameters; or safetensors with `layers.0.weight` [members, outputs, inputs] and " +
      "`layers.0.bias` [members, outputs] for each layer. The same under the same name changes nothing.",
    access: "submit",
    query: PopulationUploadQuery,
    rawBody: { mediaTypes: ["application/octet-stream"], maxBytes: LIMITS.populationBytes },
    reply: { status: 201, schema: Population },
    problems: ["conflict", "payload-too-large", "unsupported-media-type"],
  }),
  listPopulations: defineEndpoint({
    method: "get",
    path: "/v1/populations",
    tag: "evaluations",
    summary: "List populations, newest first",
    access: "read",
    query: PageQuery,
    reply: { status: 200, schema: PopulationPage },
  }),
  getPopulation: defineEndpoint({
    method: "get",
    path: "/v1/populations/{population}",
    tag: "evaluations",
    summary: "Describe a population, by id or name",
    access: "read",
    params: byPopulation,
    reply: { status: 200, schema: Population },
    problems: ["not-found"],
  }),
  downloadPopulation: defineEndpoint({
    method: "get",
    path: "/v1/populations/{population}/file",
    tag: "evaluations",
    summary: "Fetch a population's file; takes `Range` and `If-None-Match`",
    access: "read",
    params: byPopulation,
    reply: { status: 200, mediaType: "application/octet-stream" },
    problems: ["not-found"],
  }),
  deletePopulation: defineEndpoint({
    method: "delete",
    path: "/v1/populations/{population}",
    tag: "evaluations",
    summary: "Delete a population; evaluations of it stay",
    access: "submit",
    params: byPopulation,
    reply: { status: 204 },
    problems: ["not-found"],
  }),
} as const;
