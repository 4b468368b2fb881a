import { type SQL, sql } from "drizzle-orm";
import { drizzle, type DrizzleD1Database } from "drizzle-orm/d1";
import { nameFailure } from "../../telemetry/name-failure.ts";
import { PLATFORM_LIMITS } from "../platform-limits.ts";

/** Characters of one bound parameter: each may take three bytes, and a tenth is left. */
const CHUNK_LENGTH = 0.3 * PLATFORM_LIMITS.databaseValueBytes;

/** Rows as texts of JSON arrays for `json_each`, each short enough for one parameter. */
export function chunkRows(rows: readonly unknown[]): string[] {
  const chunks: string[] = [];
  let open: string[] = [];
  let length = 0;
  for (const row of rows) {
    const text = JSON.stringify(row);
    if (open.length > 0 && length + text.length > CHUNK_LENGTH) {
      chunks.push(`[${open.join()}]`);
      open = [];
      length = 0;
    }
    open.push(text);
    length += text.length + 1;
  }
  if (open.length > 0) chunks.push(`[${open.join()}]`);
  return chunks;
}

/** The bindings that hold what is stored, and the project that reads and writes there. */
export interface ProjectStorage {
  readonly DB: D1Database;
  readonly ARTIFACTS: R2Bucket;
  readonly project: string;
}

export type Database = DrizzleD1Database;

/**
 * The database as one project sees it. Stores that take it read and write rows of that project alone; stores that take
 * a `Database` work across projects, or by internal ids.
 */
export type ProjectDatabase = Database & { readonly project: string };

/** The database as the project of a request or a job sees it. */
export function openProject({ DB, project }: Pick<ProjectStorage, "DB" | "project">): ProjectDatabase {
  return Object.assign(Object.create(openDatabase(DB)) as Database, { project });
}

/** Kept, since each has a cache of the tables' names in snake case. */
const opened = new WeakMap<D1Database, Database>();

/** The database behind a D1 binding; column names are the schema's in snake case. */
export function openDatabase(binding: D1Database): Database {
  const known = opened.get(binding) ?? drizzle(binding, { casing: "snake_case" });
  opened.set(binding, known);
  return known;
}

/** Any number of values for an `in`: one JSON parameter, since D1 accepts a hundred parameters at most. */
export function listOf(values: readonly string[]): SQL {
  return sql`(select value from json_each(${JSON.stringify(values)}))`;
}

/**
 * Whether a statement failed since the database is full.
 * Source: SQLITE_FULL (https://sqlite.org/rescode.html#full), and the message of D1 beyond its 10 GB.
 */
export function isStorageFull(error: unknown): boolean {
  return /SQLITE_FULL|database or disk is full|maximum DB size/i.test(nameFailure(error));
}

/** Whether the database answers. */
export async function isReadable(binding: D1Database): Promise<boolean> {
  const answer = await binding
    .prepare("select 1 as one")
    .first("one")
    .catch(() => null);
  return answer === 1;
}
