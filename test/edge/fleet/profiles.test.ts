import { describe, expect, it } from "vitest";
import { BUILT_IN_PROFILES } from "../../../src/protocol/fleet/profile.ts";
import { byNumber, callEdge, pointersOf, problemOf } from "../stack/edge-client.ts";

const empty = { description: "", requirements: {}, targets: {}, settings: {} };
const create = (name: string) => callEdge("POST", "/v1/profiles", { body: { name } });
const update = (name: string, ifMatch?: string) =>
  callEdge("PUT", `/v1/profiles/${name}`, {
    body: { ...empty, description: "changed" },
    headers: ifMatch === undefined ? {} : { "if-match": ifMatch },
  });

describe("a profile", () => {
  it("is created once, read, listed behind the built-in ones and deleted", async () => {
    const created = await create("lab");
    expect(created.status).toBe(201);
    expect(created.json).toMatchObject({ ...empty, name: "lab", builtIn: false, version: 1 });
    const taken = await create("lab");
    expect(problemOf(taken).code).toBe("conflict");
    expect(pointersOf(taken)).toEqual(["#/name"]);
    const read = await callEdge("GET", "/v1/profiles/lab");
    expect(read.json).toEqual(created.json);
    expect(read.headers.get("etag")).toBe(created.headers.get("etag"));
    const names = (await callEdge("GET", "/v1/profiles")).json.items.map(({ name }: { name: string }) => name);
    expect(names).toEqual([...BUILT_IN_PROFILES.map(({ name }) => name), "lab"]);
    expect((await callEdge("DELETE", "/v1/profiles/lab")).status).toBe(204);
    expect(problemOf(await callEdge("GET", "/v1/profiles/lab")).code).toBe("not-found");
  });

  it("is replaced only with the ETag that it has", async () => {
    const eTag = String((await create("guarded")).headers.get("etag"));
    expect(problemOf(await update("guarded")).code).toBe("precondition-required");
    expect(pointersOf(await update("guarded"))).toEqual(["header/if-match"]);
    const updated = await update("guarded", eTag);
    expect(updated.json).toMatchObject({ description: "changed", version: 2 });
    const stale = await update("guarded", eTag);
    expect(problemOf(stale).code).toBe("precondition-failed");
    expect(pointersOf(stale)).toEqual(["header/if-match"]);
    expect((await update("guarded", String(updated.headers.get("etag")))).json.version).toBe(3);
  });

  it("is replaced by one of two that saw the same ETag", async () => {
    const eTag = String((await create("contested")).headers.get("etag"));
    const replies = await Promise.all([update("contested", eTag), update("contested", eTag)]);
    expect(replies.map(({ status }) => status).toSorted(byNumber)).toEqual([200, 412]);
  });

  it("stays as it is when it is built in", async () => {
    for (const reply of [
      await create("balanced"),
      await update("balanced", "*"),
      await callEdge("DELETE", "/v1/profiles/balanced"),
    ]) {
      expect(problemOf(reply).code).toBe("conflict");
    }
    expect(pointersOf(await callEdge("DELETE", "/v1/profiles/balanced"))).toEqual(["path/name"]);
  });

  it("is listed once over pages", async () => {
    for (const name of ["p1", "p2", "p3"]) await create(name);
    const first = (await callEdge("GET", "/v1/profiles?limit=2")).json;
    const names = first.items.map(({ name }: { name: string }) => name);
    let cursor = first.nextCursor;
    while (cursor !== null) {
      const { items, nextCursor } = (await callEdge("GET", `/v1/profiles?limit=2&cursor=${encodeURIComponent(cursor)}`))
        .json;
      names.push(...items.map(({ name }: { name: string }) => name));
      cursor = nextCursor;
    }
    expect(new Set(names).size).toBe(names.length);
    expect(names).toEqual(expect.arrayContaining(["balanced", "p1", "p2", "p3"]));
  });
});
