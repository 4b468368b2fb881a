import { expect, it } from "vitest";
import { createClient } from "../../../src/client/client.ts";
import { listAll } from "../../../src/client/list-all.ts";
import { endpoints } from "../../../src/protocol/endpoints.ts";
import { createRecordingFetch, json } from "./recording-fetch.ts";

const profile = (name: string) => ({
  name,
  description: "",
  requirements: {},
  targets: {},
  settings: {},
  builtIn: false,
  version: 1,
  updatedAt: null,
});

function openPages() {
  const pages = [
    { items: [profile("a"), profile("b")], nextCursor: "two" },
    { items: [], nextCursor: "three" },
    { items: [profile("c")], nextCursor: null },
  ];
  const { fetch, requests } = createRecordingFetch(...pages.map((page) => json(page)));
  return { client: createClient({ baseUrl: "http://edge.test", fetch }), requests };
}

it("goes on from cursor to cursor, with the caller's query", async () => {
  const { client, requests } = openPages();
  const items = await Array.fromAsync(listAll(client, endpoints.listProfiles, { query: { limit: 2 } }));
  expect(items.map(({ name }) => name)).toEqual(["a", "b", "c"]);
  expect(requests.map(({ url }) => new URL(url).search)).toEqual([
    "?limit=2",
    "?limit=2&cursor=two",
    "?limit=2&cursor=three",
  ]);
});

it("asks for no page that nobody wants", async () => {
  const { client, requests } = openPages();
  for await (const { name } of listAll(client, endpoints.listProfiles)) if (name === "b") break;
  expect(requests).toHaveLength(1);
});

it("takes lists only", async () => {
  const { client } = openPages();
  // @ts-expect-error a profile is no list
  await expect(listAll(client, endpoints.getProfile, { params: { name: "a" } }).next()).rejects.toThrow(
    "does not know",
  );
});
