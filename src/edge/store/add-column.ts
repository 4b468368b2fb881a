/** Adds a column to an object's own table where it was made before there was one; what is there gets the default. */
export function addColumn(sql: SqlStorage, table: string, column: string, definition: string): void {
  const [found] = sql.exec("select 1 from pragma_table_info(?) where name = ?", table, column).toArray();
  if (found === undefined) sql.exec(`alter table ${table} add column ${column} ${definition}`);
}
