import { createRoute, OpenAPIHono, z } from "@hono/zod-openapi";
import type { Endpoint } from "../../protocol/endpoint.ts";
import { endpoints } from "../../protocol/endpoints.ts";
import { OipError } from "../../protocol/inference/oip.ts";
import { Problem, type ProblemCode, PROBLEMS } from "../../protocol/wire/problem.ts";
import { VERSION } from "../../protocol/wire/release.ts";
import { oipStatus } from "./problems.ts";

/**
 * Says of a schema that is named elsewhere what stands beside its name. The generator writes both into an `allOf`, which
 * nothing that may be null can fulfil, and in which generated clients see no type.
 */
function mendReferences(part: unknown): unknown {
  if (Array.isArray(part)) return part.map(mendReferences);
  if (typeof part !== "object" || part === null) return part;
  const mended = Object.fromEntries(Object.entries(part).map(([name, child]) => [name, mendReferences(child)]));
  return isBeside(mended) ? joinReference(mended) : mended;
}

interface Beside {
  readonly allOf: readonly [{ readonly $ref: string }, { readonly type?: unknown; readonly properties?: unknown }];
}

/** A reference and words about it; what adds properties is another schema. */
function isBeside(part: Record<string, unknown>): part is Record<string, unknown> & Beside {
  const { allOf } = part as Partial<Beside>;
  return Array.isArray(allOf) && allOf.length === 2 && "$ref" in allOf[0] && allOf[1].properties === undefined;
}

function joinReference({ allOf: [reference, { type, ...words }], ...rest }: Beside): object {
  const isNullable = Array.isArray(type) && type.includes("null");
  return { ...rest, ...words, ...(isNullable ? { anyOf: [reference, { type: "null" }] } : reference) };
}

let document: object | null = null;

/** What a caller may show for itself, each as a bearer token. */
const SECRETS = {
  key: "An API key (`mk_…`) with the route's scope",
  runner: "A runner's credential (`mc_…`)",
};

/** The OpenAPI 3.1 document of the endpoint table; made when it is first asked for. */
export function openApiDocument(): object {
  document ??= generate();
  return document;
}

function generate(): object {
  const app = new OpenAPIHono();
  for (const [operationId, endpoint] of Object.entries<Endpoint>(endpoints as never)) {
    app.openAPIRegistry.registerPath(toRoute(operationId, endpoint));
  }
  for (const [name, description] of Object.entries(SECRETS)) {
    app.openAPIRegistry.registerComponent("securitySchemes", name, { type: "http", scheme: "bearer", description });
  }
  const generated = app.getOpenAPI31Document({
    openapi: "3.1.0",
    info: {
      title: "millrace",
      version: VERSION,
      description: "Benchmarks, inference within a latency budget, and history, on your own runners.",
      license: { name: "Apache-2.0" },
    },
  });
  return mendReferences(generated) as object;
}

function toRoute(operationId: string, endpoint: Endpoint) {
  const { params, query, headers, body, rawBody } = endpoint;
  const content = {
    ...Object.fromEntries((rawBody?.mediaTypes ?? []).map((type) => [type, { schema: bytes() }])),
    ...(body === undefined ? {} : { "application/json": { schema: body } }),
  };
  return createRoute({
    operationId,
    method: endpoint.method,
    path: endpoint.path,
    tags: [endpoint.tag],
    summary: endpoint.summary,
    ...(endpoint.description === undefined ? {} : { description: endpoint.description }),
    security: endpoint.access === "public" ? [] : [{ [endpoint.access === "runner" ? "runner" : "key"]: [] }],
    request: {
      ...(params === undefined ? {} : { params: params as z.ZodObject }),
      ...(query === undefined ? {} : { query: query as z.ZodObject }),
      ...(headers === undefined ? {} : { headers: headers as z.ZodObject }),
      ...(Object.keys(content).length === 0 ? {} : { body: { content, required: true } }),
    },
    responses: { ...successResponse(endpoint), ...problemResponses(endpoint) },
  });
}

/** Schemas whose values are bytes. */
const bytes = () => z.string().openapi({ format: "binary" });

function successResponse({ method, reply, repeatable }: Endpoint) {
  if ("schema" in reply) {
    const further = (reply.alsoAs ?? []).map((type) => [type, { schema: bytes() }]);
    const content = { "application/json": { schema: reply.schema }, ...Object.fromEntries(further) };
    const said = { [reply.status]: { description: DONE[reply.status], content } };
    if (reply.status !== 201) return said;
    if (method === "put") return { ...said, 200: { description: "It was there already, and is this now", content } };
    const isKnown = repeatable === "as-it-is";
    return isKnown ? { ...said, 200: { description: "It was there already, and is as it was", content } } : said;
  }
  if ("mediaType" in reply) {
    const content = { [reply.mediaType]: { schema: z.string() } };
    return { [reply.status]: { description: `As \`${reply.mediaType}\``, content } };
  }
  return { [reply.status]: { description: DONE[reply.status] } };
}

/** What a status of success says. */
const DONE = {
  101: "The connection is a WebSocket from here on",
  200: "What was asked for",
  201: "It was created",
  202: "It was queued, and goes on behind the reply",
  204: "It is done, and there is nothing to say",
};

/** The problems that a route may answer with, joined by status; under `/v2` they have another shape. */
function problemResponses(endpoint: Endpoint) {
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
  const isOip = endpoint.path.startsWith("/v2/");
  const byStatus = Map.groupBy(codes, (code) => {
    const { status } = PROBLEMS[code];
    return isOip ? oipStatus({ code, status }) : status;
  });
  const content = isOip
    ? { "application/json": { schema: OipError } }
    : { "application/problem+json": { schema: Problem } };
  return Object.fromEntries(
    [...byStatus].map(([status, names]) => [
      status,
      { description: names.map((name) => `\`${name}\``).join(", "), content },
    ]),
  );
}
