export type SqlValue = ArrayBuffer | string | number | null;

/** The SQLite of a Durable Object, as far as it is used here, so that another SQLite can stand in for it. */
export interface ObjectSql {
  exec<Row extends Record<string, SqlValue>>(
    query: string,
    ...bindings: SqlValue[]
  ): Iterable<Row> & { toArray(): Row[] };
}

export interface ObjectStorage {
  readonly sql: ObjectSql;
  transactionSync<Value>(work: () => Value): Value;
}

/** One step of a layout: SQL, or a function that looks first. */
export type ObjectMigration = string | ((sql: ObjectSql) => void);

/**
 * Brings the SQLite of a Durable Object to the last layout: runs the steps that it has not seen, in order and each
 * once, in one transaction. A step that was released is never edited; a changed table is another step.
 */
export function migrateObject(storage: ObjectStorage, migrations: readonly ObjectMigration[]): void {
  const { sql } = storage;
  sql.exec("create table if not exists layout (version integer not null) strict");
  const [row] = sql.exec<{ version: number }>("select version from layout").toArray();
  const version = row?.version ?? 0;
  // A newer edge was here before: its tables are taken as they are.
  if (version >= migrations.length) return;
  storage.transactionSync(() => {
    for (const migration of migrations.slice(version)) {
      if (typeof migration === "string") sql.exec(migration);
      else migration(sql);
    }
    sql.exec("delete from layout");
    sql.exec("insert into layout (version) values (?)", migrations.length);
  });
}

/** Adds a column where a table of before there were versions lacks it. */
export function ensureColumn(table: string, column: string, type: string): ObjectMigration {
  return (sql) => {
    const known = sql.exec("select 1 from pragma_table_info(?) where name = ?", table, column).toArray();
    if (known.length === 0) sql.exec(`alter table ${table} add column ${column} ${type}`);
  };
}
