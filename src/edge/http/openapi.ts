import { createRoute, OpenAPIHono, z } from "@hono/zod-openapi";
import type { Endpoint } from "../../protocol/endpoint.ts";
import { endpoints } from "../../protocol/endpoints.ts";
import { PROBLEMS, Problem, type ProblemCode } from "../../protocol/problem.ts";
import { VERSION } from "../../protocol/version.ts";

let document: object | null = null;

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
  app.openAPIRegistry.registerComponent("securitySchemes", "key", { type: "http", scheme: "bearer" });
  return app.getOpenAPI31Document({
    openapi: "3.1.0",
    info: {
      title: "millrace",
      version: VERSION,
      description: "Benchmarks, inference within a latency budget, and history, on your own runners.",
      license: { name: "Apache-2.0" },
    },
  });
}

function toRoute(operationId: string, endpoint: Endpoint) {
  const { params, query, headers, body, rawBody } = endpoint;
  const content = {
    ...Object.fromEntries(
      (rawBody?.mediaTypes ?? []).map((type) => [type, { schema: z.string().openapi({ format: "binary" }) }]),
    ),
    ...(body === undefined ? {} : { "application/json": { schema: body } }),
  };
  return createRoute({
    operationId,
    method: endpoint.method,
    path: endpoint.path,
    tags: [endpoint.tag],
    summary: endpoint.summary,
    ...(endpoint.description === undefined ? {} : { description: endpoint.description }),
    security: endpoint.access === "public" ? [] : [{ key: [] }],
    request: {
      ...(params === undefined ? {} : { params: params as z.ZodObject }),
      ...(query === undefined ? {} : { query: query as z.ZodObject }),
      ...(headers === undefined ? {} : { headers: headers as z.ZodObject }),
      ...(Object.keys(content).length === 0 ? {} : { body: { content, required: true } }),
    },
    responses: { ...successResponse(endpoint), ...problemResponses(endpoint) },
  });
}

function successResponse({ reply }: Endpoint) {
  if ("schema" in reply) {
    const further = (reply.alsoAs ?? []).map((type) => [type, { schema: z.string().openapi({ format: "binary" }) }]);
    const content = { "application/json": { schema: reply.schema }, ...Object.fromEntries(further) };
    return { [reply.status]: { description: "Done", content } };
  }
  if ("mediaType" in reply) {
    return { [reply.status]: { description: "Done", content: { [reply.mediaType]: { schema: z.string() } } } };
  }
  return { [reply.status]: { description: "Done" } };
}

/** The problems that a route may answer with, joined by status. */
function problemResponses(endpoint: Endpoint) {
  const takesInput = endpoint.params ?? endpoint.query ?? endpoint.body ?? endpoint.headers;
  const codes = new Set<ProblemCode>([
    ...(takesInput === undefined ? [] : (["invalid-request"] as const)),
    ...(endpoint.body === undefined ? [] : (["payload-too-large", "unsupported-media-type"] as const)),
    ...(endpoint.access === "public" ? [] : (["unauthorized", "forbidden"] as const)),
    ...(endpoint.problems ?? []),
  ]);
  const byStatus = Map.groupBy(codes, (code) => PROBLEMS[code].status);
  const content = { "application/problem+json": { schema: Problem } };
  return Object.fromEntries(
    [...byStatus].map(([status, names]) => [
      status,
      { description: names.map((name) => `\`${name}\``).join(", "), content },
    ]),
  );
}
