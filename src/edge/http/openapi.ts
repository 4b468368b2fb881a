import type { z } from "zod";
import type { Endpoint } from "../../protocol/endpoint.ts";
import { endpoints } from "../../protocol/endpoints.ts";
import { OipError, oipStatus } from "../../protocol/inference/oip.ts";
import { PROBLEMS, Problem, type ProblemCode } from "../../protocol/wire/problem.ts";
import { VERSION } from "../../protocol/wire/release.ts";
import { convertSchemas, type JsonSchema } from "./json-schema.ts";

let document: object | null = null;

/** Secrets of a caller, each as a bearer token. */
const SECRETS = {
  key: "An API key (`mk_…`) with the route's scope",
  runner: "A runner's credential (`mc_…`)",
};

/** The OpenAPI 3.1 document of the endpoint table, made on first use. */
export function openApiDocument(): object {
  document ??= generate();
  return document;
}

function generate(): object {
  const table = Object.entries<Endpoint>(endpoints as never);
  const { parts, components } = convertSchemas(Object.fromEntries(table.flatMap(collectSchemas)));
  const paths: Record<string, Record<string, object>> = {};
  for (const [operationId, endpoint] of table) {
    const operation = describeOperation(operationId, endpoint, (part) => parts[`${operationId} ${part}`]);
    (paths[endpoint.path] ??= {})[endpoint.method] = operation;
  }
  const securitySchemes = Object.entries(SECRETS).map(([name, description]) => [
    name,
    { type: "http", scheme: "bearer", description },
  ]);
  return {
    openapi: "3.1.0",
    info: {
      title: "millrace",
      version: VERSION,
      description: "Benchmarks, inference within a latency budget, and history, on your own runners.",
      license: { name: "Apache-2.0" },
    },
    components: { securitySchemes: Object.fromEntries(securitySchemes), schemas: components },
    paths,
  };
}

/** Part of an endpoint that has a schema; parameters have OpenAPI's names for their places. */
type Part = "path" | "query" | "header" | "body" | "reply" | "problem";
type Schemas = (part: Part) => JsonSchema | undefined;

/** The schemas of an endpoint, named by the endpoint and the part. */
function collectSchemas([operationId, endpoint]: [string, Endpoint]): [string, z.ZodType][] {
  const { params, query, headers, body, reply } = endpoint;
  const problem = isOip(endpoint) ? OipError : Problem;
  const schemas = { path: params, query, header: headers, body, reply: "schema" in reply ? reply.schema : undefined };
  return Object.entries<z.ZodType | undefined>({ ...schemas, problem }).flatMap(([part, schema]) =>
    schema === undefined ? [] : [[`${operationId} ${part}`, schema]],
  );
}

function describeOperation(operationId: string, endpoint: Endpoint, schemas: Schemas): object {
  const { summary, description, access, rawBody } = endpoint;
  const parameters = (["path", "query", "header"] as const).flatMap((place) =>
    describeParameters(place, schemas(place)),
  );
  const body = schemas("body");
  const content = {
    ...Object.fromEntries((rawBody?.mediaTypes ?? []).map((type) => [type, { schema: BYTES }])),
    ...(body === undefined ? {} : { "application/json": { schema: body } }),
  };
  return {
    operationId,
    tags: [endpoint.tag],
    summary,
    ...(description === undefined ? {} : { description }),
    security: access === "public" ? [] : [{ [access === "runner" ? "runner" : "key"]: [] }],
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(Object.keys(content).length === 0 ? {} : { requestBody: { content, required: true } }),
    responses: { ...describeSuccess(endpoint, schemas), ...describeProblems(endpoint, schemas) },
  };
}

function describeParameters(place: "path" | "query" | "header", schema: JsonSchema | undefined): object[] {
  return Object.entries(schema?.properties ?? {}).map(([name, property]) => {
    const required = schema?.required?.includes(name) === true;
    const { description } = property as JsonSchema;
    return { name, in: place, required, ...(description === undefined ? {} : { description }), schema: property };
  });
}

/** The schema of bytes. */
const BYTES = { type: "string", format: "binary" };

function describeSuccess({ method, reply, repeatable }: Endpoint, schemas: Schemas): Record<string, object> {
  if ("schema" in reply) {
    const further = (reply.alsoAs ?? []).map((type) => [type, { schema: BYTES }]);
    const content = { "application/json": { schema: schemas("reply") }, ...Object.fromEntries(further) };
    const described = { [reply.status]: { description: DONE[reply.status], content } };
    if (reply.status !== 201) return described;
    if (method === "put")
      return { ...described, 200: { description: "It was there already, and is this now", content } };
    const isKnown = repeatable === "as-it-is";
    return isKnown
      ? { ...described, 200: { description: "It was there already, and is as it was", content } }
      : described;
  }
  if ("mediaType" in reply) {
    const content = { [reply.mediaType]: { schema: { type: "string" } } };
    return { [reply.status]: { description: `As \`${reply.mediaType}\``, content } };
  }
  return { [reply.status]: { description: DONE[reply.status] } };
}

/** Description of each status of success. */
const DONE = {
  101: "The connection becomes a WebSocket",
  200: "Success",
  201: "Created",
  202: "Queued: the work continues after the reply",
  204: "No content",
};

/** Problems of a route, joined by status; under `/v2` they have another shape. */
function describeProblems(endpoint: Endpoint, schemas: Schemas): Record<string, object> {
  const takesInput = endpoint.params ?? endpoint.query ?? endpoint.body ?? endpoint.headers;
  const codes = new Set<ProblemCode>([
    ...(takesInput === undefined ? [] : (["invalid-request"] as const)),
    ...((endpoint.body ?? endpoint.rawBody) === undefined
      ? []
      : (["payload-too-large", "unsupported-media-type"] as const)),
    ...(endpoint.access === "public" ? [] : (["unauthorized", "forbidden"] as const)),
    ...(endpoint.problems ?? []),
    "internal",
  ]);
  const byStatus = Map.groupBy(codes, (code) => {
    const { status } = PROBLEMS[code];
    return isOip(endpoint) ? oipStatus({ code, status }) : status;
  });
  const mediaType = isOip(endpoint) ? "application/json" : "application/problem+json";
  const content = { [mediaType]: { schema: schemas("problem") } };
  return Object.fromEntries(
    [...byStatus].map(([status, names]) => [
      status,
      { description: names.map((name) => `\`${name}\``).join(", "), content },
    ]),
  );
}

function isOip({ path }: Endpoint): boolean {
  return path.startsWith("/v2/");
}
