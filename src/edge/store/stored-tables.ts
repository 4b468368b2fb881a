import { is } from "drizzle-orm";
import { toSnakeCase } from "drizzle-orm/casing";
import { getTableConfig, type SQLiteColumn, SQLiteTable } from "drizzle-orm/sqlite-core";
import { LIMITS } from "../../protocol/wire/limits.ts";
import { chunkRows } from "./database.ts";
import * as schema from "./schema.ts";

/** A table as SQL names it. */
export interface StoredTable {
  readonly name: string;
  readonly columns: readonly string[];
  /** The columns of its key, in their order. */
  readonly key: readonly string[];
  /** Rows are only ever added, each with a higher number in the key. */
  readonly isCounted: boolean;
}

const columnName = ({ name }: SQLiteColumn) => toSnakeCase(name);

function toStoredTable(table: SQLiteTable): StoredTable {
  const { name, columns, primaryKeys } = getTableConfig(table);
  const key = primaryKeys[0]?.columns ?? columns.filter(({ primary }) => primary);
  const isCounted = columns.some((column) => "autoIncrement" in column && column.autoIncrement === true);
  return { name, columns: columns.map(columnName), key: key.map(columnName), isCounted };
}

/** What a table's rows refer to, before the table. */
function collect(table: SQLiteTable, ordered: Set<SQLiteTable>): void {
  for (const { reference } of getTableConfig(table).foreignKeys) collect(reference().foreignTable, ordered);
  ordered.add(table);
}

/** The numbers that SQLite gave last: a deleted row's is not given again. */
const SEQUENCES: StoredTable = { name: "sqlite_sequence", columns: ["name", "seq"], key: ["name"], isCounted: false };

function listTables(): StoredTable[] {
  const ordered = new Set<SQLiteTable>();
  for (const table of Object.values<unknown>(schema)) if (is(table, SQLiteTable)) collect(table, ordered);
  ordered.delete(schema.transfers);
  // What was done at an edge is told by that edge alone.
  ordered.delete(schema.auditEntries);
  return [...[...ordered].map(toStoredTable), SEQUENCES];
}

/** Every table that an export holds, in an order in which they can be filled. */
export const STORED_TABLES: readonly StoredTable[] = listTables();

/** Rows of a table that count: of the sequences, those of our tables. */
export function rowsOf({ name }: StoredTable): string {
  if (name !== SEQUENCES.name) return name;
  const counted = STORED_TABLES.filter(({ isCounted }) => isCounted).map((table) => `'${table.name}'`);
  return `(select name, seq from sqlite_sequence where name in (${counted.join()}))`;
}

/** A value as D1 gives and takes it; no table of ours has blobs. */
export type Cell = string | number | null;
export type Row = readonly Cell[];

/** A row whose JSON is longer goes in by a parameter for each column: one parameter holds 2 MB. */
const LONG_ROW_LENGTH = 500_000;

/**
 * The rows behind `after`, by the table's key: as many as fit a page, and one at least. `upTo` bounds a table
 * that only grows. A shorter list than a page holds tells nothing: only an empty one is the end.
 */
export async function readRows(
  binding: D1Database,
  table: StoredTable,
  { after, upTo }: { readonly after: Row | null; readonly upTo: number | undefined },
): Promise<Row[]> {
  const key = table.key.join();
  const from = rowsOf(table);
  const bounds = [
    ...(after === null ? [] : [`(${key}) > (${after.map(() => "?").join()})`]),
    ...(upTo === undefined ? [] : [`${key} <= ?`]),
  ];
  const values = [...(after ?? []), ...(upTo === undefined ? [] : [upTo])];
  const where = bounds.length === 0 ? "" : `where ${bounds.join(" and ")}`;
  const bytes = table.columns.map((column) => `coalesce(octet_length(${column}), 0)`).join(" + ");
  const last = await binding
    .prepare(
      `select ${key} from (
         select *, sum(bytes) over (order by ${key} rows unbounded preceding) as total from (
           select ${key}, ${bytes} as bytes from ${from} ${where} order by ${key} limit ?
         )
       ) where total - bytes < ? order by ${table.key.map((column) => `${column} desc`).join()} limit 1`,
    )
    .bind(...values, LIMITS.exportPageRows, LIMITS.exportPageBytes)
    .raw<Cell[]>();
  const [end] = last;
  if (end === undefined) return [];
  const upper = `(${key}) <= (${end.map(() => "?").join()})`;
  return binding
    .prepare(`select ${table.columns.join()} from ${from} where ${[...bounds, upper].join(" and ")} order by ${key}`)
    .bind(...values, ...end)
    .raw<Cell[]>();
}

/** The part of a row that is its key. */
export function keyOf(table: StoredTable, row: Row): Cell[] {
  return table.key.map((column) => row[table.columns.indexOf(column)] ?? null);
}

/** Stores rows, all or none; one that is there under the same key is replaced. */
export async function writeRows(binding: D1Database, table: StoredTable, rows: readonly Row[]): Promise<void> {
  const into = `insert or replace into ${table.name} (${table.columns.join()})`;
  const many = binding.prepare(
    `${into} select ${table.columns.map((_, i) => `value ->> ${i}`).join()} from json_each(?1)`,
  );
  const one = binding.prepare(`${into} values (${table.columns.map(() => "?").join()})`);
  const isLong = (row: Row) => row.reduce<number>((length, cell) => length + String(cell).length, 0) > LONG_ROW_LENGTH;
  // SQLite's own table has no key that rows would be replaced by.
  const forget = binding.prepare("delete from sqlite_sequence where name in (select value ->> 0 from json_each(?1))");
  await binding.batch([
    ...(table.name === "sqlite_sequence" ? [forget.bind(JSON.stringify(rows))] : []),
    ...rows.filter(isLong).map((row) => one.bind(...row)),
    ...chunkRows(rows.filter((row) => !isLong(row))).map((json) => many.bind(json)),
  ]);
}
