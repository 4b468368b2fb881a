import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { convertV4MiniflareOptions, Log, LogLevel, Miniflare } from "miniflare";
import { applyMigrations } from "../../src/local/edge-host.ts";

/** Runs one statement for each row of parameters, one after the other or as one batch. */
const WORKER = `export default {
  async fetch(request, { DB }) {
    const { sql, rows, atOnce } = await request.json();
    const statements = rows.map((row) => DB.prepare(sql).bind(...row));
    const replies = atOnce ? await DB.batch(statements) : [];
    if (!atOnce) for (const statement of statements) replies.push(await statement.all());
    const { results, meta } = replies.at(-1);
    return Response.json({ results, rowsRead: meta.rows_read });
  },
};`;

/** SQL with rows of parameters. */
export interface D1Request {
  readonly sql: string;
  readonly rows: readonly (readonly (string | number | null)[])[];
  /** True if all rows are one batch, which is a transaction. */
  readonly atOnce: boolean;
}

/** Result of the last statement. */
export interface D1Reply {
  readonly results: readonly object[];
  readonly rowsRead: number;
}

/** A Worker with its own D1 that only runs the SQL it receives. */
export interface D1Host {
  run(request: D1Request): Promise<D1Reply>;
  /** The database's file. */
  readonly file: string;
  stop(): Promise<void>;
}

/** Starts one; with a folder of migrations its database has the product's tables. */
export async function startD1(folder: string, migrations?: string): Promise<D1Host> {
  const miniflare = new Miniflare(
    convertV4MiniflareOptions({
      host: "127.0.0.1",
      port: 0,
      log: new Log(LogLevel.ERROR),
      cf: false,
      telemetry: { enabled: false },
      resourcePersistencePath: folder,
      modules: [{ type: "ESModule", path: "worker.mjs", contents: WORKER }],
      compatibilityDate: "2026-10-20",
      d1Databases: { DB: "samples" },
      unsafeDirectSockets: [{ host: "127.0.0.1", port: 0 }],
    }),
  );
  await miniflare.ready;
  const database = await miniflare.getD1Database("DB");
  if (migrations === undefined) await database.prepare("select 1").run();
  else await applyMigrations(database, migrations);
  const url = await miniflare.unsafeGetDirectURL();
  const run = async (request: D1Request) => {
    const reply = await fetch(url, { method: "POST", body: JSON.stringify(request) });
    if (!reply.ok) throw new Error(`status ${reply.status}: ${await reply.text()}`);
    return (await reply.json()) as D1Reply;
  };
  return { run, file: await findD1File(folder), stop: () => miniflare.dispose() };
}

/** File of the only D1 database in a folder of Miniflare's. */
export async function findD1File(folder: string): Promise<string> {
  const files = join(folder, "d1/miniflare-D1DatabaseObject");
  const name = (await readdir(files)).find((each) => each.endsWith(".sqlite") && each !== "metadata.sqlite");
  if (name === undefined) throw new Error("there is no D1 database");
  return join(files, name);
}
