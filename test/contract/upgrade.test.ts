import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createBootstrapSecret } from "../../src/local/data-folder.ts";
import { type EdgeHost, startEdge } from "../../src/local/edge-host.ts";
import { fillTables, migrateBelow, migrateWhole, type StoredRow, withDatabase } from "./old-database.ts";

/** Databases of earlier releases, made new by the migrations since: nothing is lost, and the edge answers as before. */

const root = join(import.meta.dirname, "../..");
const migrations = (await readdir(join(root, "migrations"))).filter((name) => name.endsWith(".sql")).toSorted();
/** Data of the release whose last migration has that number: see releases/README.md. */
const releases = (await readdir(join(import.meta.dirname, "releases"), { withFileTypes: true }))
  .filter((entry) => entry.isDirectory())
  .map(({ name }) => name);

let dataDir: string;
const enter = async () => {
  dataDir = await mkdtemp(join(tmpdir(), "millrace-upgrade-"));
};
const leave = () => rm(dataDir, { recursive: true, force: true });

/** Current tables and indices, without those that SQLite and D1 use themselves. */
const SCHEMA = `select type, name, sql from sqlite_schema where name not like 'sqlite%'
  and name not like '\\_cf%' escape '\\' and name != 'd1_migrations' order by name`;

describe("a database without rows", () => {
  let fresh: unknown[];
  beforeAll(async () => {
    await enter();
    fresh = await withDatabase(dataDir, async (database) => {
      expect(await migrateWhole(database)).toEqual(migrations);
      return (await database.prepare(SCHEMA).all()).results;
    });
  });
  afterAll(leave);

  it.each(migrations.slice(1))("from before %s is the same after all migrations as a new one", async (name) => {
    const upgraded = await withDatabase(join(dataDir, name), async (database) => {
      await migrateBelow(database, name);
      expect(await migrateWhole(database)).toEqual(migrations.slice(migrations.indexOf(name)));
      return (await database.prepare(SCHEMA).all()).results;
    });
    expect(upgraded).toEqual(fresh);
  });
});

describe.each(releases)("the database of the release with migration %s", (release) => {
  const folder = join(import.meta.dirname, "releases", release);
  let rows: StoredRow[];
  let answers: [path: string, answer: unknown][];
  let tables: string[];
  let kept: Map<string, unknown[]>;
  let edge: EdgeHost;
  let headers: Record<string, string>;

  beforeAll(async () => {
    await enter();
    [rows, answers] = await Promise.all([
      readLines<StoredRow>(join(folder, "rows.jsonl.gz")),
      readLines<[string, unknown]>(join(folder, "answers.jsonl.gz")),
    ]);
    const next = migrations.find((name) => name.slice(0, 4) > release) ?? "9999";
    [tables, kept] = await withDatabase(dataDir, async (database) => {
      await migrateBelow(database, next);
      const names = await listTables(database);
      await fillTables(database, rows);
      await migrateWhole(database);
      return [names, await readRows(database, rows)];
    });
    const bootstrapSecret = createBootstrapSecret();
    // The history is not tended: data beyond its retention stays.
    edge = await startEdge({ port: 0, dataDir, root, bootstrapSecret, cronMs: 86_400_000 });
    headers = { authorization: `Bearer ${bootstrapSecret}` };
  });
  afterAll(async () => {
    await edge?.stop();
    await leave();
  });

  it("has rows in every table, and keeps each as it was", () => {
    const stored = Map.groupBy(rows, ([table]) => table);
    expect([...stored.keys()].toSorted()).toEqual(tables.toSorted());
    for (const [table, entries] of stored) {
      const before = entries.map(([, row]) => row);
      expect.soft({ table, rows: inOrder(kept.get(table) ?? []) }).toEqual({ table, rows: inOrder(before) });
    }
  });

  it("is answered from as it was then", async () => {
    expect(answers.length).toBeGreaterThan(50);
    // On a machine with much to do, a first connection may be reset while workerd starts.
    const knock = () => fetch(`${edge.url}/v1/health`).then(({ status }) => status, String);
    await expect.poll(knock, { timeout: 30_000 }).toBe(200);
    for (const [path, answer] of answers) {
      const response = await fetch(edge.url + path, { headers });
      // A newer release may say more of it.
      const now = withoutNewer(await response.json(), answer);
      expect.soft({ path, answer: now }).toMatchObject({ path, answer });
    }
  });
});

/** A newer release has more built-in profiles: those that the recorded lists lack are left out. */
function withoutNewer(now: unknown, then: unknown): unknown {
  if (Array.isArray(now) && Array.isArray(then)) {
    const names = new Set(then.map(profileOf));
    if (names.has(undefined)) return now;
    return now.filter((each) => names.has(profileOf(each)));
  }
  if (!isObject(now) || !isObject(then)) return now;
  return Object.fromEntries(Object.entries(now).map(([name, value]) => [name, withoutNewer(value, then[name])]));
}

/** Name of a profile, or of the profile that something was judged by. */
function profileOf(each: unknown): string | undefined {
  if (!isObject(each)) return undefined;
  if (typeof each["profile"] === "string") return each["profile"];
  return "requirements" in each ? String(each["name"]) : undefined;
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

async function readLines<Line>(file: string): Promise<Line[]> {
  const lines = gunzipSync(await readFile(file))
    .toString()
    .split("\n")
    .filter((line) => line !== "");
  return lines.map((line) => JSON.parse(line) as Line);
}

type Database = Parameters<Parameters<typeof withDatabase>[1]>[0];

async function listTables(database: Database): Promise<string[]> {
  const { results } = await database.prepare(SCHEMA).all<{ type: string; name: string }>();
  return results.filter(({ type }) => type === "table").map(({ name }) => name);
}

/** The rows of each table by the columns that they had: a migration may add others. */
async function readRows(database: Database, rows: readonly StoredRow[]): Promise<Map<string, unknown[]>> {
  const columnsOf = new Map(rows.map(([table, row]) => [table, Object.keys(row).join(", ")]));
  const selects = Array.from(columnsOf, ([table, columns]) => database.prepare(`select ${columns} from ${table}`));
  const read = await database.batch(selects);
  return new Map(Array.from(columnsOf.keys(), (table, i) => [table, read[i]?.results ?? []]));
}

function inOrder(rows: readonly unknown[]): string[] {
  return rows.map((row) => JSON.stringify(row)).toSorted();
}
