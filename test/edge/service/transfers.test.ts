import { env } from "cloudflare:workers";
import { afterEach, describe, expect, it } from "vitest";
import { tendHistory } from "../../../src/edge/history/tend-history.ts";
import { STORED_TABLES } from "../../../src/edge/store/stored-tables.ts";
import { LIMITS } from "../../../src/protocol/wire/limits.ts";
import { summarise } from "../../../src/stats/distribution/distribution.ts";
import type { Transfer, TransferInput } from "../../../src/protocol/service/transfer.ts";
import { callEdge, fetchEdge, problemOf } from "../stack/edge-client.ts";

const decode = (bytes: ArrayBuffer) => new TextDecoder().decode(bytes);
const begun: string[] = [];

afterEach(async () => {
  for (const id of begun.splice(0)) await callEdge("DELETE", `/v1/transfers/${id}`);
});

async function begin(body: Partial<TransferInput> = { kind: "export" }): Promise<Transfer> {
  const reply = await callEdge("POST", "/v1/transfers", { body });
  expect(reply.status).toBe(201);
  begun.push(reply.json.id);
  return reply.json;
}

async function page(id: string, table: string, cursor: string | null) {
  const query = cursor === null ? "" : `?cursor=${encodeURIComponent(cursor)}`;
  const response = await fetchEdge("GET", `/v1/transfers/${id}/tables/${table}${query}`);
  expect(response.status).toBe(200);
  const lines = decode(await response.arrayBuffer())
    .trimEnd()
    .split("\n");
  const { nextCursor }: { nextCursor: string | null } = JSON.parse(lines.at(-1) ?? "");
  return { rows: lines.slice(0, -1).map((line): unknown[] => JSON.parse(line)), nextCursor };
}

async function readAll(id: string, table: string): Promise<unknown[][]> {
  const rows: unknown[][] = [];
  for (let cursor: string | null = null, isFirst = true; isFirst || cursor !== null; isFirst = false) {
    const read = await page(id, table, cursor);
    rows.push(...read.rows);
    cursor = read.nextCursor;
  }
  return rows;
}

function post(id: string, table: string, rows: readonly unknown[]) {
  return callEdge("POST", `/v1/transfers/${id}/tables/${table}`, {
    body: rows.map((row) => JSON.stringify(row)).join("\n"),
    headers: { "content-type": "application/x-ndjson" },
  });
}

const newImport = (schemaVersion: string) => ({
  kind: "import" as const,
  exportId: `trf_${"0".repeat(25)}${begun.length}`,
  schemaVersion,
  into: "any" as const,
});

const { sketch } = summarise([1]);
const insertPoint = `insert into points (series_no, at_ms, source_id, count, min, max, sum, sketch)`;

async function addSeries(): Promise<void> {
  await env.DB.prepare(
    `insert or ignore into series (no, id, subject_kind, subject, metric, key, created_at_ms)
     values (1, 'ser_x', 'benchmark', 'x', 'wallMs', '{}', 1)`,
  ).run();
}

async function addPoints(count: number): Promise<void> {
  await addSeries();
  await env.DB.prepare(
    `${insertPoint} with recursive n(i) as (select 1 union all select i + 1 from n where i < ?1)
     select 1, i, 'source', 1, 1.0 / i, i, i / 3.0, ?2 from n`,
  )
    .bind(count, sketch)
    .run();
}

describe("an export", () => {
  it("knows every table and column of the database", async () => {
    const found = await env.DB.prepare(
      `select name from sqlite_schema where type = 'table' and name not like 'sqlite\\_%' escape '\\'
       and name not like '\\_cf%' escape '\\' and name not in ('d1_migrations', 'transfers', 'audit_entries', 'serving_state', 'project_counts')`,
    ).all<{ name: string }>();
    const names = STORED_TABLES.map(({ name }) => name);
    expect(names.toSorted()).toEqual([...found.results.map(({ name }) => name), "sqlite_sequence"].toSorted());
    for (const { name, columns, key } of STORED_TABLES.filter((table) => table.name !== "sqlite_sequence")) {
      const info = await env.DB.prepare(`pragma table_info(${name})`).all<{ name: string; pk: number }>();
      expect(info.results.map((column) => column.name).toSorted()).toEqual([...columns].toSorted());
      const primary = info.results.filter(({ pk }) => pk > 0).toSorted((a, b) => a.pk - b.pk);
      expect(primary.map((column) => column.name)).toEqual(key);
    }
  });

  it("gives each row of the moment at which it began once, page by page, whatever comes meanwhile", async () => {
    await addPoints(2 * LIMITS.exportPageRows + 7);
    const { id, tables } = await begin();
    expect(tables.find(({ name }) => name === "points")?.rows).toBe(2 * LIMITS.exportPageRows + 7);
    const first = await page(id, "points", null);
    expect(first.rows).toHaveLength(LIMITS.exportPageRows);
    await env.DB.prepare(`${insertPoint} values (1, 0, 'late', 1, 1, 1, 1, '${sketch}')`).run();
    const all = await readAll(id, "points");
    expect(all).toHaveLength(2 * LIMITS.exportPageRows + 7);
    expect(all.map(([seq]) => seq)).toEqual(all.map((_, index) => index + 1));
    const stored = await env.DB.prepare("select * from points where source_id = 'source' order by seq").raw();
    expect(all).toEqual(stored);
  });

  it("bounds its pages by bytes, and gives a row that is larger than that by itself", async () => {
    const insert = env.DB.prepare(
      "insert into profiles (project, name, spec, version, updated_at_ms) values ('main', ?1, ?2, 1, 1)",
    );
    const long = "x".repeat(1_500_000);
    await env.DB.batch(["a", "b", "c", "d", "e"].map((name) => insert.bind(name, JSON.stringify(long))));
    const { id } = await begin();
    const { rows } = await page(id, "profiles", null);
    expect(rows.map(([, name]) => name)).toEqual(["a", "b", "c"]);
    expect((await readAll(id, "profiles")).map(([, name]) => name)).toEqual(["a", "b", "c", "d", "e"]);
    const target = await begin(newImport((await begin()).schemaVersion));
    expect((await post(target.id, "profiles", [rows[1]])).status).toBe(200);
    const back = await env.DB.prepare("select * from profiles where name = 'b'").raw();
    expect(back).toEqual([rows[1]]);
    await env.DB.prepare("delete from profiles").run();
  });

  it("and an import keep the history from being tended; an unread export lapses", async () => {
    await addSeries();
    await env.DB.prepare(`${insertPoint} values (1, 5, 'new', 1, 1, 1, 1, '${sketch}')`).run();
    const rolledSeq = () => env.DB.prepare("select rolled_seq as seq from history_state").first<{ seq: number }>();
    const before = await rolledSeq();
    const { id } = await begin();
    await tendHistory(env, Date.now());
    expect(await rolledSeq()).toEqual(before);
    await env.DB.prepare("update transfers set touched_at_ms = touched_at_ms - 600001").run();
    expect((await callEdge("GET", `/v1/transfers/${id}/tables/keys`)).status).toBe(404);
    const { id: later } = await begin();
    await callEdge("DELETE", `/v1/transfers/${later}`);
    const target = await begin(newImport((await begin()).schemaVersion));
    await env.DB.prepare("update transfers set touched_at_ms = 0").run();
    await tendHistory(env, Date.now());
    expect(await rolledSeq()).toEqual(before);
    expect((await post(target.id, "profiles", [["main", "p", "{}", 1, 1]])).status).toBe(200);
    await callEdge("DELETE", `/v1/transfers/${target.id}`);
    await callEdge("DELETE", `/v1/transfers/${begun.at(-1)}`);
    await tendHistory(env, Date.now());
    expect((await rolledSeq())?.seq).toBeGreaterThan(before?.seq ?? 0);
    await env.DB.prepare("delete from profiles").run();
  });
});

describe("an import", () => {
  it("is refused for another schema, a filled database, and beside another one", async () => {
    const { schemaVersion } = await begin();
    const wrong = await callEdge("POST", "/v1/transfers", { body: newImport("0001_old.sql") });
    expect(problemOf(wrong).detail).toContain(`0001_old.sql, and this database has ${schemaVersion}`);
    await addSeries();
    const filled = { ...newImport(schemaVersion), into: "empty" };
    expect(problemOf(await callEdge("POST", "/v1/transfers", { body: filled })).detail).toMatch(/not empty: .*series/);
    const { id } = await begin(newImport(schemaVersion));
    const again = await callEdge("POST", "/v1/transfers", { body: { ...newImport(schemaVersion) } });
    expect(problemOf(again).detail).toContain(`${id} is under way`);
  });

  it("goes on where it was, also into what it has filled by then", async () => {
    const { schemaVersion } = await begin();
    const input = newImport(schemaVersion);
    const { id } = await begin(input);
    await post(id, "profiles", [["main", "mine", "{}", 1, 1]]);
    expect((await begin({ ...input, into: "empty" })).id).toBe(id);
    expect((await post(id, "profiles", [["main", "mine", '{"a":1}', 2, 2]])).json).toEqual({ rows: 1 });
    expect((await env.DB.prepare("select * from profiles").raw())[0]).toEqual(["main", "mine", '{"a":1}', 2, 2]);
    await env.DB.prepare("delete from profiles").run();
  });

  it("keeps every value as it was, and the numbers that are given next", async () => {
    const { schemaVersion } = await begin();
    const { id } = await begin(newImport(schemaVersion));
    const text = '"quoted" \\ \n ümläut \u{1f600}';
    const reals = [0.1 + 0.2, 5e-324, -1.7976931348623157e308, 1 / 3, 4];
    const rows = reals.map((real, i) => [9_000_000 + i, 1, i, text, null, text, 1, real, real, real, "s"]);
    await addSeries();
    expect((await post(id, "points", rows)).json).toEqual({ rows: reals.length });
    const back = await env.DB.prepare("select * from points where seq >= 9000000 order by seq").raw();
    expect(back).toEqual(rows);
    await post(id, "sqlite_sequence", [["points", 9_500_000]]);
    const next = await env.DB.prepare(
      `${insertPoint} values (1, 7, 'n', 1, 1, 1, 1, '${sketch}') returning seq`,
    ).first();
    expect(next).toEqual({ seq: 9_500_001 });
  });

  it("refuses what is no row, and a row that refers to nothing, and stores nothing of that page", async () => {
    const { schemaVersion } = await begin();
    const { id } = await begin(newImport(schemaVersion));
    const good = ["main", "good", "{}", 1, 1];
    for (const bad of [
      [...good, 1],
      good.slice(1),
      { name: "x" },
      [["x"], "y", "{}", 1, 1],
      ["main", null, "{}", 1, null],
    ]) {
      const reply = await post(id, "profiles", [good, bad]);
      expect([400, 409]).toContain(reply.status);
      if (reply.status === 400) expect(problemOf(reply).errors?.[0]?.pointer).toBe("#/1");
    }
    const orphan = await post(id, "model_versions", [
      ["ver_x", "mdl_none", 1, "d", 1, "[]", "[]", null, null, null, null, 1],
    ]);
    expect(problemOf(orphan).detail).toContain("FOREIGN KEY");
    expect((await post(id, "nobody", [good])).status).toBe(404);
    expect((await env.DB.prepare("select * from profiles").all()).results).toEqual([]);
  });

  it("takes objects whose digest is right, and gives them again with their type", async () => {
    const { id: source, schemaVersion } = await begin();
    const { id } = await begin(newImport(schemaVersion));
    const body = new TextEncoder().encode("a trace");
    const hash = await crypto.subtle.digest("SHA-256", body);
    const hex = [...new Uint8Array(hash)].map((byte) => byte.toString(16).padStart(2, "0")).join("");
    const put = (digest: string) =>
      callEdge("PUT", `/v1/transfers/${id}/object?key=traces/a%20b&digest=${digest}&contentType=text/plain`, {
        body,
        headers: { "content-type": "application/octet-stream" },
      });
    const part = "uploads/parts/main/00/1";
    await env.ARTIFACTS.put(part, "a part of an upload");
    expect((await put(`sha256:${"0".repeat(64)}`)).status).toBe(400);
    expect((await put(`sha256:${hex}`)).status).toBe(200);
    const { items } = (await callEdge("GET", `/v1/transfers/${source}/objects`)).json;
    expect(items).toContainEqual({ key: "traces/a b", sizeBytes: 7, contentType: "text/plain" });
    expect(items.map(({ key }: { key: string }) => key)).not.toContain(part);
    await env.ARTIFACTS.delete(part);
    const response = await fetchEdge("GET", `/v1/transfers/${source}/object?key=traces/a%20b`);
    expect(decode(await response.arrayBuffer())).toBe("a trace");
    expect((await fetchEdge("GET", `/v1/transfers/${source}/object?key=none`)).status).toBe(404);
  });
});
