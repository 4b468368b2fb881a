import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";

/** The D1 database in an edge's data folder, while no edge runs there. */
export async function openStoredDatabase(dataDir: string): Promise<DatabaseSync> {
  const folder = join(dataDir, "edge/d1");
  const files = await readdir(folder, { recursive: true });
  for (const file of files.filter((name) => name.endsWith(".sqlite"))) {
    const database = new DatabaseSync(join(folder, file));
    const tables = database.prepare("select name from sqlite_schema where name = 'd1_migrations'").all();
    if (tables.length === 1) return database;
    database.close();
  }
  throw new Error(`there is no database in ${folder}`);
}
