import { cp, mkdir, mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { convertV4MiniflareOptions, Miniflare } from "miniflare";
import { seriesIdOf } from "../../src/edge/store/history/series-store.ts";
import { applyMigrations } from "../../src/local/edge-host.ts";
import type { SeriesKey } from "../../src/protocol/history/series.ts";
import { summarise } from "../../src/stats/distribution/distribution.ts";
import { MAIN_PROJECT } from "../../src/protocol/service/project.ts";

const root = join(import.meta.dirname, "../..");
const migrations = join(root, "migrations");
const DAY_MS = 86_400_000;
/** Points of one statement, and different sketches. */
const BATCH = 5_000;
const POOL = 500;

type D1 = Awaited<ReturnType<Miniflare["getD1Database"]>>;

/** The database in an edge's data folder, without the edge. */
export async function withDatabase<Value>(dataDir: string, work: (database: D1) => Promise<Value>): Promise<Value> {
  const resourcePersistencePath = join(dataDir, "edge");
  await mkdir(resourcePersistencePath, { recursive: true });
  const worker = {
    name: "millrace",
    modules: [{ type: "ESModule" as const, path: "none.mjs", contents: "export default {}" }],
  };
  const miniflare = new Miniflare(
    convertV4MiniflareOptions({
      resourcePersistencePath,
      telemetry: { enabled: false },
      cf: false,
      workers: [{ ...worker, compatibilityDate: "2026-10-20", d1Databases: { DB: "millrace" } }],
    }),
  );
  try {
    return await work(await miniflare.getD1Database("DB", "millrace"));
  } finally {
    await miniflare.dispose();
  }
}

/** Applies the migrations whose names come before this one. */
export async function migrateBelow(database: D1, name: string): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), "millrace-old-"));
  try {
    for (const file of await readdir(migrations))
      if (file.endsWith(".sql") && file < name) await cp(join(migrations, file), join(folder, file));
    await applyMigrations(database, folder);
  } finally {
    await rm(folder, { recursive: true });
  }
}

export async function migrateWhole(database: D1): Promise<string[]> {
  return applyMigrations(database, migrations);
}

/** A row of a table, by its columns. */
export type StoredRow = [table: string, row: Record<string, string | number | null>];

/** Puts rows back as they were, in one transaction and any order. */
export async function fillTables(database: D1, rows: readonly StoredRow[]): Promise<void> {
  const inserts = rows.map(([table, row]) => {
    const columns = Object.keys(row);
    const places = columns.map(() => "?").join(", ");
    const sql = `insert or replace into ${table} (${columns.join(", ")}) values (${places})`;
    return database.prepare(sql).bind(...Object.values(row));
  });
  await database.batch([database.prepare("pragma defer_foreign_keys = on"), ...inserts]);
}

/**
 * Fills a database as it was before rollups: points of `seriesCount` series, evenly over the `days` before `toMs`,
 * a third of them of live requests.
 */
export async function fillOldHistory(
  database: D1,
  { points, seriesCount, days, toMs }: { points: number; seriesCount: number; days: number; toMs: number },
): Promise<void> {
  const rows = await Promise.all(
    Array.from({ length: seriesCount }, async (_, i) => {
      const key = keyOf(i);
      const { id, canonical } = await seriesIdOf(key, MAIN_PROJECT);
      return [id, key.subjectKind, key.subject, key.metric, canonical, toMs - days * DAY_MS + i];
    }),
  );
  await database
    .prepare(
      `insert into series (id, subject_kind, subject, metric, key, created_at_ms)
       select value->>0, value->>1, value->>2, value->>3, value->>4, value->>5 from json_each(?)`,
    )
    .bind(JSON.stringify(rows))
    .run();
  const pool = Array.from({ length: POOL }, (_none, i) => {
    const { count, min, max, sum, sketch } = summarise(
      Array.from({ length: 10 }, (_value, j) => 5 + 10 * ((0.618 * (j + 1) * (i + 1)) % 1)),
    );
    return [count, min, max, sum, sketch];
  });
  const insert = database.prepare(
    `insert into points (series_id, at_ms, source_id, run_id, count, min, max, sum, sketch)
     select value->>0, value->>1, value->>2, value->>3, value->>4, value->>5, value->>6, value->>7, value->>8 from json_each(?1)`,
  );
  const fromMs = toMs - days * DAY_MS;
  for (let from = 0; from < points; from += BATCH) {
    const batch = Array.from({ length: Math.min(BATCH, points - from) }, (_none, offset) => {
      const i = from + offset;
      const atMs = fromMs + Math.floor((i * days * DAY_MS) / points);
      const runId = i % 3 === 0 ? null : `run_${String(i).padStart(26, "0")}`;
      return [rows[i % seriesCount]?.[0], atMs, `source-${i}`, runId, ...(pool[(i * 7_919) % POOL] ?? [])];
    });
    await insert.bind(JSON.stringify(batch)).run();
  }
}

function keyOf(i: number): SeriesKey {
  return {
    subjectKind: "kernel",
    subject: `kernel-${i % 20}`,
    metric: "wallMs",
    unit: "ms",
    clock: "runner-wall",
    direction: "lower",
    configuration: { batch: Math.floor(i / 20) },
    fingerprint: null,
    software: false,
    label: i % 2 === 0 ? "main" : null,
  };
}
