import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { createBootstrapSecret } from "../../src/local/data-folder.ts";
import { type EdgeHost, startEdge } from "../../src/local/edge-host.ts";
import { fillTables, migrateBelow, migrateWhole, type StoredRow, withDatabase } from "./old-database.ts";

/** Databases of earlier releases, made new by the migrations since: nothing is lost, and the edge answers as before. */

const root = join(import.meta.dirname, "../..");
const migrations = (await readdir(join(root, "migrations"))).filter((name) => name.endsWith(".sql")).toSorted();
/** What the release left whose last migration has that number: see releases/README.md. */
const releases = (await readdir(join(import.meta.dirname, "releases"), { withFileTypes: true }))
  .filter((entry) => entry.isDirectory())
  .map(({ name }) => name);

let dataDir: string;
const enter = async () => {
  dataDir = await mkdtemp(join(tmpdir(), "millrace-upgrade-"));
};
const leave = () => rm(dataDir, { recursive: true, force: true });

/** Tables and indices as they are now; what SQLite and D1 keep for themselves is left out. */
const SCHEMA =
  "select type, name, sql from sqlite_schema where name not like 'sqlite%' and name not like '\\_cf%' escape '\\'
  and name != 'd1_migrations' order by name";

describe("a database without rows", () => {
  beforeEach(enter);
  afterEach(leave);

  it.each(migrations)("from before %s is the same after all migrations as a new one", async (name) => {
    const upgraded = await withDatabase(dataDir, async (database) => {
      await migrateBelow(database, name);
      expect(await migrateWhole(database)).toEqual(migrations.slice(migrations.indexOf(name)));
      return (await database.prepare(SCHEMA).all()).results;
    });
    const fresh = await withDatabase(join(dataDir, "fresh"), async (database) => {
      await migrateWhole(database);
      return (await database.prepare(SCHEMA).all()).results;
    });
    expect(fresh.length).toBeGreaterThan(0);
    expect(upgraded).toEqual(fresh);
  });
});

describe.each(releases)("the database of the release with migration %s", (release) => {
  const folder = join(import.meta.dirname, "releases", release);
  let rows: StoredRow[];
  let answers: [path: string, answer: unknown][];
  let countsBefore: Record<string, number>;
  let countsAfter: Record<string, number>;
  let edge: EdgeHost;
  let headers: Record<string, string>;

  beforeAll(async () => {
    await enter();
    [rows, answers] = await Promise.all([
      readLines<StoredRow>(join(folder, "rows.jsonl")),
      readLines<[string, unknown]>(join(folder, "answers.jsonl")),
    ]);
    const next = migrations.find((name) => name.slice(0, 4) > release) ?? "9999";
    [countsBefore, countsAfter] = await withDatabase(dataDir, async (database) => {
      await migrateBelow(database, next);
      await fillTables(database, rows);
      const tables = await listTables(database);
      const before = await countRows(database, tables);
      await migrateWhole(database);
      return [before, await countRows(database, tables)];
    });
    const bootstrapSecret = createBootstrapSecret();
    // Nothing tends the history: what is too old to be kept by now stays.
    edge = await startEdge({ port: 0, dataDir, root, bootstrapSecret, cronMs: 86_400_000 });
    headers = { authorization: `Bearer ${bootstrapSecret}` };
  });
  afterAll(async () => {
    await edge?.stop();
    await leave();
  });

  it("has rows in every table, and keeps each of them", async () => {
    expect(Object.entries(countsBefore).filter(([, count]) => count === 0)).toEqual([]);
    expect(countsAfter).toEqual(countsBefore);
  });

  it("is answered from as it was then", async () => {
    expect(answers.length).toBeGreaterThan(50);
    for (const [path, answer] of answers) {
      const response = await fetch(edge.url + path, { headers });
      // A newer release may say more of it.
      expect({ path, answer: await response.json() }).toMatchObject({ path, answer });
    }
  });
});

async function readLines<Line>(file: string): Promise<Line[]> {
  const lines = (await readFile(file, "utf8")).split("\n").filter((line) => line !== "");
  return lines.map((line) => JSON.parse(line) as Line);
}

type Database = Parameters<Parameters<typeof withDatabase>[1]>[0];

async function listTables(database: Database): Promise<string[]> {
  const { results } = await database.prepare(SCHEMA).all<{ type: string; name: string }>();
  return results.filter(({ type }) => type === "table").map(({ name }) => name);
}

async function countRows(database: Database, tables: readonly string[]): Promise<Record<string, number>> {
  const counted = await database.batch<{ count: number }>(
    tables.map((table) => database.prepare(`select count(*) as count from ${table}`)),
  );
  return Object.fromEntries(tables.map((table, i) => [table, counted[i]?.results[0]?.count ?? 0]));
}
