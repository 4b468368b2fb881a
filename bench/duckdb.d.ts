/** The used part of DuckDB: the package is missing until the first bench installs it. */
declare module "@duckdb/node-api" {
  export const INTEGER: unique symbol;
  export const BIGINT: unique symbol;
  export const DOUBLE: unique symbol;
  export class DuckDBDataChunk {
    static create(types: readonly unknown[]): DuckDBDataChunk;
    setColumns(columns: readonly (readonly (number | bigint)[])[]): void;
  }
  export interface DuckDBAppender {
    appendDataChunk(chunk: DuckDBDataChunk): void;
    closeSync(): void;
  }
  export interface DuckDBResultReader {
    getRowsJS(): readonly (readonly unknown[])[];
  }
  export interface DuckDBPreparedStatement {
    bind(values: readonly (number | bigint)[]): void;
    runAndReadAll(): Promise<DuckDBResultReader>;
  }
  export interface DuckDBConnection {
    run(sql: string): Promise<unknown>;
    runAndReadAll(sql: string): Promise<DuckDBResultReader>;
    prepare(sql: string): Promise<DuckDBPreparedStatement>;
    createAppender(table: string): Promise<DuckDBAppender>;
    closeSync(): void;
  }
  export class DuckDBInstance {
    static create(path: string): Promise<DuckDBInstance>;
    connect(): Promise<DuckDBConnection>;
    closeSync(): void;
  }
}
