import { z } from "zod";
import { defineEndpoint } from "../endpoint.ts";
import { PolicyNetwork } from "../models/policy-network.ts";
import { Digest, idSchema } from "../wire/id.ts";
import { LIMITS } from "../wire/limits.ts";
import { Instant, Name, pageOf, PageQuery } from "../wire/page.ts";
import { parseJson } from "../wire/parse-json.ts";

/** Many policies of one form as one file: float32, members × parameters, row-major. */
export const Population = z
  .object({
    id: idSchema("population"),
    name: Name.nullable(),
    digest: Digest,
    sizeBytes: z.number().int(),
    format: z.enum(["npy", "safetensors"]),
    /** Bytes before the first row. */
    offsetBytes: z.number().int().min(0),
    members: z.number().int().min(1).max(LIMITS.populationMembers),
    parameters: z.number().int().min(1).max(LIMITS.policyParameters),
    network: PolicyNetwork,
    createdAt: Instant,
  })
  .meta({ id: "Population" });
export type Population = z.infer<typeof Population>;
const PopulationPage = pageOf(Population, "Population");

/** Query of an upload; the body is the npy or safetensors file itself. */
const PopulationUploadQuery = z.strictObject({
  name: Name.optional().meta({ description: "Name of the population; absent: it has its id alone" }),
  network: z
    .string()
    .max(4_096)
    .default("{}")
    .transform((text) => withKind(parseJson(text)))
    .pipe(PolicyNetwork)
    .meta({
      type: "string",
      description: "Form of the members, as JSON",
      example: '{"kind":"mlp","hidden":[32],"activation":"tanh"}',
    }),
});

/** Dense layers are what a network is unless it says otherwise. */
function withKind(value: unknown): unknown {
  return typeof value === "object" && value !== null && !("kind" in value) ? { kind: "mlp", ...value } : value;
}

const byPopulation = z.object({
  population: z.string().min(1).max(128).meta({ description: "Name or id of a population" }),
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
    repeatable: "as-it-is",
    reply: { status: 201, schema: Population },
    problems: ["conflict", "quota-exceeded"],
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
    reply: { status: 200, mediaType: "application/octet-stream", cached: "ranges" },
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
