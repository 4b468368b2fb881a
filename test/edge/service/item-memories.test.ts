import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import { readItemMemory, readPartKeys } from "../../../src/edge/store/kernels/item-memory-store.ts";
import { openProject } from "../../../src/edge/store/database.ts";
import { LIMITS } from "../../../src/protocol/wire/limits.ts";
import { callEdge, mainEnv, pointersOf, problemOf } from "../stack/edge-client.ts";

const create = (name: string, dimension = 3) => callEdge("POST", "/v1/item-memories", { body: { name, dimension } });
const add = (name: string, items: readonly { key: string; vector: number[] }[]) =>
  callEdge("POST", `/v1/item-memories/${name}/items`, { body: { items } });
const partsOf = async (name: string) => {
  const db = openProject(mainEnv);
  const memory = (await readItemMemory(db, name))!;
  const { parts } = memory;
  const numbers = parts.map(({ part }) => part);
  const keys = await readPartKeys(db, memory, numbers);
  return parts.map((part) => ({ ...part, keys: keys.get(part.part)! }));
};
const keptFile = async (digest: string) => env.ARTIFACTS.get(`artifacts/${digest.replace(":", "/")}`);

describe("an item memory", () => {
  it("has its items in one file, which goes when more come and with the memory", async () => {
    expect((await create("small")).status).toBe(201);
    await add("small", [{ key: "one", vector: [1, 2, 3] }]);
    const [before] = await partsOf("small");
    expect((await add("small", [{ key: "two", vector: [4, 5, 6] }])).json).toMatchObject({ items: 2, version: 3 });
    const parts = await partsOf("small");
    expect(parts.map(({ keys }) => keys)).toEqual([["one", "two"]]);
    const file = new Float32Array(await (await keptFile(parts[0]!.digest))!.arrayBuffer());
    expect([...file]).toEqual([1, 2, 3, 0, 4, 5, 6, 0]);
    expect(await keptFile(before!.digest)).toBeNull();
    expect((await callEdge("DELETE", "/v1/item-memories/small")).status).toBe(204);
    expect(await keptFile(parts[0]!.digest)).toBeNull();
  });

  it("names vectors of another length, and keys that are there", async () => {
    await create("strict");
    await add("strict", [{ key: "one", vector: [1, 2, 3] }]);
    expect(pointersOf(await add("strict", [{ key: "two", vector: [1] }]))).toEqual(["#/items/0/vector"]);
    const twice = await add("strict", [{ key: "one", vector: [1, 2, 3] }]);
    expect([problemOf(twice).code, pointersOf(twice)]).toEqual(["conflict", ["#/items/0/key"]]);
  });

  it("of the same name is another one, once the first was deleted", async () => {
    const db = openProject(mainEnv);
    await create("again");
    await add("again", [{ key: "one", vector: [1, 2, 3] }]);
    const before = (await readItemMemory(db, "again"))!;
    await callEdge("DELETE", "/v1/item-memories/again");
    await create("again");
    await add("again", [{ key: "two", vector: [1, 2, 3] }]);
    expect([...(await readPartKeys(db, before, [0]))]).toEqual([]);
  });

  it("takes no key that text of the database cannot hold", async () => {
    await create("odd");
    for (const key of ["a\0b", "\ud800"])
      expect(pointersOf(await add("odd", [{ key, vector: [1, 2, 3] }]))).toEqual(["#/items/0/key"]);
  });

  it("begins a part where the keys of the last would exceed what the database takes", async () => {
    await create("wordy", 1);
    // A control character is six bytes of JSON: a request of these alone exceeds the limit for joining others.
    const items = (from: string) =>
      Array.from({ length: LIMITS.hrrSymbols }, (_, at) => ({
        key: `${from}${at}`.padEnd(256, "\u0001"),
        vector: [at],
      }));
    for (const from of ["a", "b"]) expect((await add("wordy", items(from))).status).toBe(200);
    expect((await add("wordy", [{ key: "short", vector: [1] }])).json).toMatchObject({
      items: 2 * LIMITS.hrrSymbols + 1,
    });
    expect((await add("wordy", [{ key: "shorter", vector: [2] }])).status).toBe(200);
    const counts = (await partsOf("wordy")).map(({ keys }) => keys.length);
    expect(counts).toEqual([LIMITS.hrrSymbols, LIMITS.hrrSymbols, 2]);
  });
});
