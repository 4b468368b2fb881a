import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import { DEFAULT_QUOTAS } from "../../../src/edge/store/quotas/default-quotas.ts";
import { LIMITS } from "../../../src/protocol/wire/limits.ts";
import { byNumber, callEdge, pointersOf, problemOf } from "../stack/edge-client.ts";

const requirements = [{ metric: "latencyMs", percentile: 0.5, atMost: 10 }];
const create = (name: string, fields: object = {}) =>
  callEdge("POST", "/v1/requirements", { body: { name, requirements, ...fields } });
const update = (name: string, ifMatch?: string) =>
  callEdge("PUT", `/v1/requirements/${name}`, {
    body: { description: "changed", requirements },
    headers: ifMatch === undefined ? {} : { "if-match": ifMatch },
  });

describe("a requirement set", () => {
  it("is created once, read, listed and deleted", async () => {
    const created = await create("quick");
    expect(created.status).toBe(201);
    expect(created.json).toMatchObject({ name: "quick", description: "", requirements, version: 1 });
    const taken = await create("quick");
    expect(problemOf(taken).code).toBe("conflict");
    expect(pointersOf(taken)).toEqual(["#/name"]);
    const read = await callEdge("GET", "/v1/requirements/quick");
    expect(read.json).toEqual(created.json);
    expect(read.headers.get("etag")).toBe(created.headers.get("etag"));
    expect((await callEdge("GET", "/v1/requirements")).json.items).toContainEqual(created.json);
    expect((await callEdge("DELETE", "/v1/requirements/quick")).status).toBe(204);
    expect(problemOf(await callEdge("DELETE", "/v1/requirements/quick")).code).toBe("not-found");
    expect(problemOf(await callEdge("GET", "/v1/requirements/quick")).code).toBe("not-found");
  });

  it("is replaced only with the ETag that it has, by one of two that saw the same", async () => {
    const eTag = String((await create("guarded")).headers.get("etag"));
    expect(problemOf(await update("guarded")).code).toBe("precondition-required");
    const replies = await Promise.all([update("guarded", eTag), update("guarded", eTag)]);
    expect(replies.map(({ status }) => status).toSorted(byNumber)).toEqual([200, 412]);
    const now = await callEdge("GET", "/v1/requirements/guarded");
    expect(now.json).toMatchObject({ description: "changed", version: 2 });
  });

  it("names what is wrong with a requirement", async () => {
    const wrong = async (requirement: object) => pointersOf(await create("wrong", { requirements: [requirement] }));
    const at = "#/requirements/0";
    expect(await wrong({ metric: "latencyMs" })).toEqual([at]);
    expect(await wrong({ metric: "latencyMs", atMost: 1, atLeast: 1 })).toEqual([at]);
    expect(await wrong({ metric: "startupMs", percentile: 0.5, atMost: 1 })).toEqual([`${at}/percentile`]);
    expect(await wrong({ metric: "latencyMs", percentile: 1, atMost: 1 })).toEqual([`${at}/percentile`]);
    expect(await wrong({ metric: "colour", atMost: 1 })).toEqual([`${at}/metric`]);
    expect(await wrong({ metric: "latencyMs", atMost: 1, surprise: 1 })).toEqual([`${at}/surprise`]);
    expect(pointersOf(await create("wrong", { requirements: [] }))).toEqual(["#/requirements"]);
    const many = Array.from({ length: LIMITS.requirements + 1 }, () => requirements[0]);
    expect(pointersOf(await create("wrong", { requirements: many }))).toEqual(["#/requirements"]);
  });

  it("is listed once over pages, by name", async () => {
    for (const name of ["p3", "p1", "p2"]) await create(name);
    const names: string[] = [];
    let query = "";
    for (;;) {
      const { items, nextCursor } = (await callEdge("GET", `/v1/requirements?limit=2${query}`)).json;
      names.push(...items.map(({ name }: { name: string }) => name));
      if (nextCursor === null) break;
      query = `&cursor=${encodeURIComponent(nextCursor)}`;
    }
    expect(names).toEqual(names.toSorted());
    expect(new Set(names).size).toBe(names.length);
    expect(names).toEqual(expect.arrayContaining(["p1", "p2", "p3"]));
  });

  it(`is one of ${DEFAULT_QUOTAS.requirementSets} at most`, async () => {
    const { n = 0 } = (await env.DB.prepare("select count(*) as n from requirement_sets").first<{ n: number }>()) ?? {};
    const fillers = JSON.stringify(Array.from({ length: DEFAULT_QUOTAS.requirementSets - n }, (_, i) => `filler-${i}`));
    await env.DB.prepare(
      "insert into requirement_sets (project, name, spec, version, updated_at_ms) select 'main', value, ?1, 1, 0 from json_each(?2)",
    )
      .bind(JSON.stringify({ name: "filler", description: "", requirements }), fillers)
      .run();
    const refused = await create("one-more");
    expect(problemOf(refused).code).toBe("quota-exceeded");
    expect(problemOf(refused).errors).toBeUndefined();
    expect(pointersOf(await create("filler-0"))).toEqual(["#/name"]);
    await env.DB.prepare("delete from requirement_sets where name like 'filler-%'").run();
    expect((await create("one-more")).status).toBe(201);
  });
});
