import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";

/** What is used of a D1 binding. */
interface MigrationTarget {
  prepare(sql: string): {
    bind(...values: unknown[]): unknown;
    all(): Promise<{ results: unknown[] }>;
    run(): Promise<unknown>;
  };
  batch(statements: unknown[]): Promise<unknown>;
}

const STATEMENT_BREAK = "--> statement-breakpoint";

/**
 * Applies the migrations that are new, each in one transaction together with the note that it was.
 * The table is wrangler's, so a database may be moved between the two.
 */
export async function applyMigrations(database: MigrationTarget, folder: string): Promise<string[]> {
  await database
    .prepare(
      `create table if not exists d1_migrations (id integer primary key autoincrement, name text unique,
       applied_at timestamp default current_timestamp not null)`,
    )
    .run();
  const { results } = await database.prepare("select name from d1_migrations").all();
  const applied = new Set((results as { name: string }[]).map(({ name }) => name));
  const names = (await readdir(folder)).filter((name) => name.endsWith(".sql") && !applied.has(name)).toSorted();
  for (const name of names) {
    const sql = await readFile(join(folder, name), "utf8");
    const statements = sql.split(STATEMENT_BREAK).map((statement) => database.prepare(statement.trim()));
    await database.batch([...statements, database.prepare("insert into d1_migrations (name) values (?)").bind(name)]);
  }
  return names;
}
