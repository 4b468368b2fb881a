import { env } from "cloudflare:workers";
import { beforeAll, describe, expect, it } from "vitest";
import { pruneRollups } from "../../../src/edge/store/history/retention-store.ts";
import { fetchEdge } from "../stack/edge-client.ts";
import { append, fingerprintNamed, idOf, measured, rollUpAll } from "./history-samples.ts";

const DAY_MS = 86_400_000;
const START_MS = Date.parse("2026-04-01T00:00:00.000Z");
const at = (ms: number) => new Date(ms).toISOString();
const WEEK = `from=${at(START_MS)}&to=${at(START_MS + 7 * DAY_MS)}`;
const key = { subject: "tagged", configuration: { batch: 1 } };
let paths: string[] = [];

async function tagOf(path: string): Promise<string> {
  const reply = await fetchEdge("GET", path);
  await reply.text();
  expect(reply.status).toBe(200);
  expect(reply.headers.get("cache-control")).toBe("no-cache, private");
  return reply.headers.get("etag") ?? "";
}

const tags = () => Promise.all(paths.map(tagOf));
const changed = (before: readonly string[], after: readonly string[]) =>
  paths.filter((_, index) => before[index] !== after[index]);

async function statusOf(path: string, tag: string): Promise<number> {
  const reply = await fetchEdge("GET", path, { headers: { "if-none-match": tag } });
  const text = await reply.text();
  if (reply.status === 304) {
    expect(text).toBe("");
    expect(reply.headers.get("etag")).not.toBeNull();
    expect(reply.headers.get("server-timing")).toBeNull();
  }
  return reply.status;
}

beforeAll(async () => {
  await append(measured(key, START_MS, [1]));
  const id = await idOf(measured(key, 0, [1]));
  paths = [
    "series?subject=tagged",
    `points?series=${id}`,
    `points?series=${id}&step=1d`,
    `points?series=${id}&step=1m`,
    `query?subject=tagged&${WEEK}`,
    `query?subject=tagged&step=1h&groupBy=device&${WEEK}`,
    `heatmap?subject=tagged&step=1d&${WEEK}`,
    `scaling?subject=tagged&${WEEK}`,
    `leaderboard?subject=tagged&${WEEK}`,
    "calibration?to=2026-01-02T00:00:00Z",
  ].map((path) => `/v1/history/${path}`);
});

describe("the tag of an answer about the history", () => {
  it("spares the answer only for a caller that has it", async () => {
    for (const path of paths) {
      const tag = await tagOf(path);
      expect(tag).toMatch(/^W\/"[^"]{20}"$/);
      expect(await tagOf(path)).toBe(tag);
      expect(await statusOf(path, tag)).toBe(304);
      expect(await statusOf(path, tag.replace("W/", ""))).toBe(304);
      expect(await statusOf(path, `"other", ${tag}`)).toBe(304);
      expect(await statusOf(path, "*")).toBe(304);
      expect(await statusOf(path, '"other"')).toBe(200);
    }
    const query = paths[4] ?? "";
    expect(await tagOf(`${query}&format=csv`)).not.toBe(await tagOf(query));
    const csv = await fetchEdge("GET", query, { headers: { accept: "text/csv" } });
    expect(csv.headers.get("etag")).not.toBe(await tagOf(query));
    await csv.text();
  });

  it("changes with every point that comes to what was asked for, rolled up or not, late or not", async () => {
    for (const atMs of [START_MS + 1, START_MS + 2 * DAY_MS, START_MS + 60_000]) {
      const before = await tags();
      await append(measured(key, atMs, [2]));
      expect(changed(before, await tags())).toEqual(paths.filter((path) => !path.includes("calibration")));
    }
  });

  it("stays when points are rolled up, and when others get some", async () => {
    const before = await tags();
    await rollUpAll();
    await append(measured({ subject: "other" }, START_MS, [1]));
    // Data that may be deleted soon has a shorter lifetime.
    expect(changed(before, await tags()).filter((path) => !path.includes("step=1m"))).toEqual([]);
  });

  it("changes with a new series in the selection, and when one is muted", async () => {
    const before = await tags();
    await append(measured({ ...key, fingerprint: fingerprintNamed("New") }, START_MS, [3]));
    const after = await tags();
    expect(changed(before, after)).toEqual(
      paths.filter((path) => !path.includes("/points?") && !path.includes("calibration")),
    );
    await env.DB.prepare("update series set muted_at_ms = 5 where subject = 'tagged'").run();
    expect(await tagOf(paths[0] ?? "")).not.toBe(after[0]);
    expect(await tagOf(paths[1] ?? "")).not.toBe(after[1]);
  });

  it("changes when what it was made of is forgotten", async () => {
    await rollUpAll();
    const minutes = paths[3] ?? "";
    const before = await tagOf(minutes);
    const { no = 0 } =
      (await env.DB.prepare("select no from series where subject = 'tagged'").first<{ no: number }>()) ?? {};
    await pruneRollups(env.DB, no % 24, START_MS + 30 * DAY_MS, 0);
    expect(await statusOf(minutes, before)).toBe(200);
  });
});
