import { is } from "drizzle-orm";
import { toSnakeCase } from "drizzle-orm/casing";
import { getTableConfig, type SQLiteColumn, SQLiteTable } from "drizzle-orm/sqlite-core";
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
