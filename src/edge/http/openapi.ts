import type { z } from "zod";
import type { Endpoint } from "../../protocol/endpoint.ts";
import { endpoints } from "../../protocol/endpoints.ts";
import { OipError } from "../../protocol/inference/oip.ts";
import { Problem } from "../../protocol/wire/problem.ts";
import { VERSION } from "../../protocol/wire/release.ts";
import { convertSchemas, type JsonSchema } from "./json-schema.ts";
import { isOip, problemsOf, statusOf } from "./problems.ts";

let document: object | null = null;
let bytes: Uint8Array<ArrayBuffer> | null = null;

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

/** The same as JSON: to write its megabyte takes ten milliseconds, and anybody may ask for it. */
export function openApiBytes(): Uint8Array<ArrayBuffer> {
  bytes ??= new TextEncoder().encode(JSON.stringify(openApiDocument())) as Uint8Array<ArrayBuffer>;
  return bytes;
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
  const problem = isOip(endpoint.path) ? OipError : Problem;
  const schemas = { path: params, query, header: headers, body, reply: "schema" in reply ? reply.schema : undefined };
  return Object.entries<z.ZodType | undefined>({ ...schemas, problem }).flatMap(([part, schema]) =>
    schema === undefined ? [] : [[`${operationId} ${part}`, schema]],
  );
}

function describeOperation(operationId: string, endpoint: Endpoint, schemas: Schemas): object {
  const { summary, description, access, rawBody, reply } = endpoint;
  const parameters = [
    ...(["path", "query", "header"] as const).flatMap((place) => describeParameters(place, schemas(place))),
    ...(reply.cached === undefined ? [] : [describeHeader("if-none-match", "Tags of replies that the caller has")]),
    ...(reply.cached === "ranges" ? [describeHeader("range", "One range of the file in bytes, as `bytes=0-99`")] : []),
  ];
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

function describeHeader(name: string, description: string): object {
  return { name, in: "header", required: false, description, schema: { type: "string" } };
}

/** The schema of bytes. */
const BYTES = { type: "string", format: "binary" };

function describeSuccess({ method, reply, repeatable }: Endpoint, schemas: Schemas): Record<string, object> {
  const content = describeContent(reply, schemas);
  const isThere = method === "put" ? "is this now" : repeatable === "as-it-is" ? "is as it was" : null;
  return {
    [reply.status]: { description: DONE[reply.status], ...content },
    ...(reply.status === 201 &&
      isThere !== null && { 200: { description: `It was there already, and ${isThere}`, ...content } }),
    ...(reply.cached === "ranges" && { 206: { description: DONE[206], ...content } }),
    ...(reply.cached !== undefined && { 304: { description: DONE[304] } }),
  };
}

function describeContent(reply: Endpoint["reply"], schemas: Schemas): { content?: object } {
  const [main, others] =
    "schema" in reply
      ? [{ "application/json": { schema: schemas("reply") } }, reply.alsoAs]
      : "mediaType" in reply
        ? [{ [reply.mediaType]: { schema: BYTES } }, reply.alsoAs]
        : [null, undefined];
  if (main === null) return {};
  return { content: { ...main, ...Object.fromEntries((others ?? []).map((type) => [type, { schema: BYTES }])) } };
}

/** Description of each status of success. */
const DONE = {
  101: "The connection becomes a WebSocket",
  200: "Success",
  201: "Created",
  202: "Queued: the work continues after the reply",
  204: "No content",
  206: "The requested range",
  304: "The caller has it already",
};

/** Problems of a route, joined by status; under `/v2` they have another shape. */
function describeProblems(endpoint: Endpoint, schemas: Schemas): Record<string, object> {
  const byStatus = Map.groupBy(problemsOf(endpoint), (code) => statusOf(code, endpoint.path));
  const mediaType = isOip(endpoint.path) ? "application/json" : "application/problem+json";
  const content = { [mediaType]: { schema: schemas("problem") } };
  return Object.fromEntries(
    [...byStatus].map(([status, names]) => [
      status,
      { description: names.map((name) => `\`${name}\``).join(", "), content },
    ]),
  );
}
