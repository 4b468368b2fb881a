import { env, exports } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import type { Endpoint } from "../../../src/protocol/endpoint.ts";
import { endpoints } from "../../../src/protocol/endpoints.ts";
import { ADMIN, callEdge, createKey, fetchEdge, ORIGIN, problemOf, type Sent } from "../stack/edge-client.ts";
import { POPULATION_FILES } from "../stack/population-files.ts";

describe("migrations", () => {
  it("leave every table of the schema", async () => {
    const { results } = await env.DB.prepare("select name from sqlite_master where type = 'table' order by name").all<{
      name: string;
    }>();
    expect(results.map(({ name }) => name)).toEqual(
      expect.arrayContaining([
        "keys",
        "model_versions",
        "models",
        "placements",
        "points",
        "profiles",
        "registration_tokens",
        "runners",
        "runs",
        "series",
      ]),
    );
  });
});

describe("a body that ends before its length", () => {
  const file = Uint8Array.fromBase64(POPULATION_FILES.npy);
  const cut = [
    { path: "/v1/keys", type: "application/json", begin: new TextEncoder().encode('{"name":') },
    { path: "/v1/populations", type: "application/octet-stream", begin: file.subarray(0, 20) },
    { path: "/v1/populations", type: "application/octet-stream", begin: file.subarray(0, -4) },
  ];

  it.each(cut)("is the caller's fault, however it is read: $path", async ({ path, type, begin }) => {
    for (const headers of [{}, { "content-length": "1000" }]) {
      const body = new ReadableStream({
        start: (controller) => controller.enqueue(begin),
        pull: (controller) => controller.error(new Error("the client went away")),
      });
      const reply = await exports.default.fetch(
        new Request(new URL(path, ORIGIN), {
          method: "POST",
          headers: { authorization: `Bearer ${ADMIN}`, "content-type": type, ...headers },
          body,
        }),
      );
      expect(reply.status).toBe(400);
      expect(await reply.json()).toMatchObject({ code: "invalid-request", errors: [{ pointer: "#" }] });
    }
  });
});

describe("what is not there", () => {
  it.each(["/v1/nothing", "/v1", "/v1/runners/", "/favicon.nope", "/v1/jobs/x/y/z"])(
    "%s is a problem",
    async (path) => {
      const reply = await callEdge("GET", path);
      expect(reply.status).toBe(404);
      expect(problemOf(reply)).toMatchObject({ code: "not-found", instance: path });
    },
  );

  it("a method that a route does not take is named with those that it takes", async () => {
    const reply = await callEdge("PUT", "/v1/keys", { body: {} });
    expect(reply.status).toBe(405);
    expect(problemOf(reply).code).toBe("method-not-allowed");
    expect(reply.headers.get("allow")?.split(", ").toSorted()).toEqual(["GET", "POST"]);
  });
});

describe("headers", () => {
  it("guard the page", async () => {
    for (const path of ["/", "/docs"]) {
      const response = await fetchEdge("GET", path, { key: null });
      await response.body?.cancel();
      expect(response.headers.get("content-security-policy")).toContain("default-src 'self'");
      expect(response.headers.get("content-security-policy")).toContain("frame-ancestors 'none'");
      expect(response.headers.get("x-content-type-options")).toBe("nosniff");
      expect(response.headers.get("referrer-policy")).toBe("no-referrer");
    }
  });

  it("keep API replies out of caches and open them to no other origin", async () => {
    const reply = await callEdge("GET", "/v1/health", { key: null, headers: { origin: "http://elsewhere.test" } });
    expect(reply.headers.get("cache-control")).toBe("no-store");
    expect(reply.headers.get("x-content-type-options")).toBe("nosniff");
    expect(reply.headers.get("access-control-allow-origin")).toBeNull();
  });

  it("continue the caller's trace", async () => {
    const traceId = "0af7651916cd43dd8448eb211c80319c";
    const headers = { traceparent: `00-${traceId}-b7ad6b7169203331-01` };
    expect((await callEdge("GET", "/v1/health", { headers })).headers.get("traceparent")).toMatch(
      new RegExp(`^00-${traceId}-[0-9a-f]{16}-01$`),
    );
    const fresh = (await callEdge("GET", "/v1/health", { headers: { traceparent: "garbage" } })).headers.get(
      "traceparent",
    );
    expect(fresh).toMatch(/^00-[0-9a-f]{32}-[0-9a-f]{16}-01$/);
  });
});

describe("a caller without the right", () => {
  const challengeOf = async (method: string, path: string, sent: Sent) =>
    (await callEdge(method, path, sent)).headers.get("www-authenticate");

  it("is asked for a bearer token, and hears what is wrong with the one it has", async () => {
    const asked = 'Bearer realm="millrace"';
    expect(await challengeOf("GET", "/v1/jobs", { key: null })).toBe(asked);
    expect(await challengeOf("GET", "/v1/jobs", { key: null, headers: { authorization: "Basic YTpi" } })).toBe(asked);
    expect(await challengeOf("GET", "/v1/jobs", { key: "mk_wrong" })).toBe(`${asked}, error="invalid_token"`);
    expect(await challengeOf("GET", "/v1/link", { key: "mc_wrong" })).toBe(`${asked}, error="invalid_token"`);
    expect(await challengeOf("GET", "/v2/models/x", { key: "mk_wrong" })).toBe(`${asked}, error="invalid_token"`);
    const { secret } = await createKey(["read"]);
    const submits = { key: secret, body: { kind: "probe" } };
    expect(await challengeOf("POST", "/v1/jobs", submits)).toBe(`${asked}, error="insufficient_scope"`);
    expect(await challengeOf("GET", "/v1/jobs", { key: secret })).toBeNull();
    expect(await challengeOf("POST", "/v1/runners", { key: null, body: { token: "mt_x", name: "x" } })).toBe(asked);
  });
});

describe("the OpenAPI document", () => {
  it("has every endpoint of the table, with its problems", async () => {
    const document = (await callEdge("GET", "/openapi.json", { key: null })).json;
    expect(document.openapi).toBe("3.1.0");
    const operations = Object.entries<Record<string, any>>(document.paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, operation]) => [operation.operationId, `${method} ${path}`]),
    );
    const table = Object.entries<Endpoint>(endpoints as never).map(([id, { method, path }]) => [
      id,
      `${method} ${path}`,
    ]);
    expect(operations).toHaveLength(table.length);
    expect(Object.fromEntries(operations)).toEqual(Object.fromEntries(table));
    expect(Object.keys(document.paths["/v1/infer"].post.responses)).toEqual(
      expect.arrayContaining(["200", "400", "401", "403", "413", "415", "422", "429", "504"]),
    );
    const limited = Object.entries<Endpoint>(endpoints as never).filter(([, { access }]) => access !== "public");
    for (const [id, { method, path }] of limited) {
      const tooMany = path.startsWith("/v2") ? "503" : "429";
      expect(Object.keys(document.paths[path][method].responses), id).toContain(tooMany);
    }
  });

  it("refers to nothing that it does not hold", async () => {
    const text = JSON.stringify((await callEdge("GET", "/openapi.json", { key: null })).json);
    const document = JSON.parse(text);
    const references = new Set([...text.matchAll(/"\$ref":"(#[^"]+)"/g)].map((match) => String(match[1])));
    expect(references.size).toBeGreaterThan(20);
    for (const reference of references) {
      const found = reference
        .slice(2)
        .split("/")
        .reduce((node, part) => node?.[part], document);
      expect(found, reference).toBeDefined();
    }
  });
});
