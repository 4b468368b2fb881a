import { is } from "drizzle-orm";
import { toSnakeCase } from "drizzle-orm/casing";
import { getTableConfig, type SQLiteColumn, SQLiteTable } from "drizzle-orm/sqlite-core";
import { LIMITS } from "../../protocol/wire/limits.ts";
import { PLATFORM_LIMITS } from "../platform-limits.ts";
import { chunkRows } from "./database.ts";
import * as schema from "./schema.ts";

/** A table by its SQL names. */
export interface StoredTable {
  readonly name: string;
  readonly columns: readonly string[];
  /** Columns of its key, in order. */
  readonly key: readonly string[];
  /** True if rows are only added, each with a higher number in the key. */
  readonly isCounted: boolean;
}

const columnName = ({ name }: SQLiteColumn) => toSnakeCase(name);

function toStoredTable(table: SQLiteTable): StoredTable {
  const { name, columns, primaryKeys } = getTableConfig(table);
  const key = primaryKeys[0]?.columns ?? columns.filter(({ primary }) => primary);
  const isCounted = columns.some((column) => "autoIncrement" in column && column.autoIncrement === true);
  return { name, columns: columns.map(columnName), key: key.map(columnName), isCounted };
}

/** Collects the tables that a table's rows refer to, then the table. */
function collect(table: SQLiteTable, ordered: Set<SQLiteTable>): void {
  for (const { reference } of getTableConfig(table).foreignKeys) collect(reference().foreignTable, ordered);
  ordered.add(table);
}

/** Last numbers that SQLite assigned: those of deleted rows are not assigned again. */
const SEQUENCES: StoredTable = { name: "sqlite_sequence", columns: ["name", "seq"], key: ["name"], isCounted: false };

function listTables(): StoredTable[] {
  const ordered = new Set<SQLiteTable>();
  for (const table of Object.values<unknown>(schema)) if (is(table, SQLiteTable)) collect(table, ordered);
  ordered.delete(schema.transfers);
  // The audit log and the mark of the last change belong to this database alone.
  ordered.delete(schema.auditEntries);
  ordered.delete(schema.servingState);
  // Triggers count the rows as they are imported.
  ordered.delete(schema.projectCounts);
  return [...[...ordered].map(toStoredTable), SEQUENCES];
}

/** Every table of an export, in an order in which they can be filled. */
export const STORED_TABLES: readonly StoredTable[] = listTables();

/** Condition for the relevant rows of a table: of the sequences, those of our tables. */
export function rowsOf({ name }: StoredTable): string {
  if (name !== SEQUENCES.name) return name;
  const counted = STORED_TABLES.filter(({ isCounted }) => isCounted).map((table) => `'${table.name}'`);
  return `(select name, seq from sqlite_sequence where name in (${counted.join()}))`;
}

/** A value in D1's form; no table of ours has blobs. */
export type Cell = string | number | null;
export type Row = readonly Cell[];

/** Length of a row's JSON above which each column is a parameter, as one would not hold all of it in any characters. */
const LONG_ROW_LENGTH = PLATFORM_LIMITS.databaseValueBytes / 4;

/**
 * The rows after `after`, by the table's key: as many as fit a page, and at least one. `upTo` bounds an append-only
 * table. A short list means nothing: only an empty one is the end.
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

/** Key columns of a row. */
export function keyOf(table: StoredTable, row: Row): Cell[] {
  return table.key.map((column) => row[table.columns.indexOf(column)] ?? null);
}

/** Stores rows, all or none; an existing row with the same key is replaced. */
export async function writeRows(binding: D1Database, table: StoredTable, rows: readonly Row[]): Promise<void> {
  const into = `insert or replace into ${table.name} (${table.columns.join()})`;
  const many = binding.prepare(
    `${into} select ${table.columns.map((_, i) => `value ->> ${i}`).join()} from json_each(?1)`,
  );
  const one = binding.prepare(`${into} values (${table.columns.map(() => "?").join()})`);
  const isLong = (row: Row) => row.reduce<number>((length, cell) => length + String(cell).length, 0) > LONG_ROW_LENGTH;
  // SQLite's own table has no key by which rows would be replaced.
  const forget = binding.prepare("delete from sqlite_sequence where name in (select value ->> 0 from json_each(?1))");
  await binding.batch([
    ...(table.name === "sqlite_sequence" ? [forget.bind(JSON.stringify(rows))] : []),
    ...rows.filter(isLong).map((row) => one.bind(...row)),
    ...chunkRows(rows.filter((row) => !isLong(row))).map((json) => many.bind(json)),
  ]);
}
