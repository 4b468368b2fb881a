import { parquetWriteBuffer, type SchemaElement } from "hyparquet-writer";
import type { TableFormat } from "../../protocol/wire/table-format.ts";

/** A value of a flat row; a time is an instant in UTC. */
export type Cell = string | number | boolean | null;
export type ColumnType = "text" | "number" | "integer" | "boolean" | "time";

export interface Table {
  readonly columns: readonly { readonly name: string; readonly type: ColumnType }[];
  readonly rows: readonly (readonly Cell[])[];
}

/** A table of rows; each column has a name and a function that reads its cell. */
export function tableOf<Row>(
  rows: readonly Row[],
  columns: readonly (readonly [name: string, type: ColumnType, cell: (row: Row) => Cell | undefined])[],
): Table {
  return {
    columns: columns.map(([name, type]) => ({ name, type })),
    rows: rows.map((row) => columns.map(([, , cell]) => cell(row) ?? null)),
  };
}

/** A table as a file. */
export function writeTable(table: Table, format: Exclude<TableFormat, "json">): string | ArrayBuffer {
  switch (format) {
    case "csv":
      return writeCsv(table);
    case "ndjson":
      return writeNdjson(table);
    case "parquet":
      return writeParquet(table);
  }
}

/** RFC 4180, with a header. */
function writeCsv({ columns, rows }: Table): string {
  const lines = [columns.map(({ name }) => name), ...rows];
  return lines.map((cells) => `${cells.map(toCsv).join()}\r\n`).join("");
}

/**
 * Puts an apostrophe before text that a spreadsheet would read as a formula.
 * Source: OWASP, CSV injection.
 */
function toCsv(cell: Cell): string {
  if (typeof cell !== "string") return cell === null ? "" : String(cell);
  const text = /^[=+\-@\t\r\n]/.test(cell) ? `'${cell}` : cell;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

function writeNdjson({ columns, rows }: Table): string {
  return rows
    .map((cells) => `${JSON.stringify(Object.fromEntries(columns.map(({ name }, i) => [name, cells[i]])))}\n`)
    .join("");
}

const PARQUET_TYPES = {
  text: { type: "BYTE_ARRAY", converted_type: "UTF8" },
  number: { type: "DOUBLE" },
  // Sums of counts exceed 32 bits.
  integer: { type: "INT64" },
  boolean: { type: "BOOLEAN" },
  // Readers use the older of the two names for a local time.
  time: {
    type: "INT64",
    converted_type: "TIMESTAMP_MILLIS",
    logical_type: { type: "TIMESTAMP", isAdjustedToUTC: true, unit: "MILLIS" },
  },
} as const satisfies Record<ColumnType, Omit<SchemaElement, "name">>;

function writeParquet({ columns, rows }: Table): ArrayBuffer {
  const elements = columns.map(({ name, type }): SchemaElement => ({
    name,
    repetition_type: "OPTIONAL",
    ...PARQUET_TYPES[type],
  }));
  return parquetWriteBuffer({
    schema: [{ name: "root", num_children: columns.length }, ...elements],
    columnData: columns.map(({ name, type }, i) => ({
      name,
      data: rows.map((cells) => toParquet(cells[i] ?? null, type)),
    })),
  });
}

function toParquet(cell: Cell, type: ColumnType): Cell | bigint | Date {
  if (cell === null) return null;
  if (type === "integer") return BigInt(Number(cell));
  return type === "time" ? new Date(String(cell)) : cell;
}
