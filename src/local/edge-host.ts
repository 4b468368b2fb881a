import { convertV4MiniflareOptions, Log, LogLevel, Miniflare } from "miniflare";
import { mkdir, readdir, readFile, rm } from "node:fs/promises";
import { createServer } from "node:net";
import { join } from "node:path";

/** The used part of a D1 binding. */
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

const HOST = "127.0.0.1";
/** A flush takes 10 to 20 ms of the only thread, for which all requests wait. */
const LOCAL_FLUSH_MS = "5000";
/** Interval of the Worker's cron trigger, which has no other source here. */
const CRON_MS = 60_000;
const COMPATIBILITY_DATE = "2026-10-20";

/** A file of the Worker: from its path, or with these contents in its place. */
export interface EdgeModule {
  readonly type: "ESModule" | "CompiledWasm";
  readonly path: string;
  readonly contents?: string | Uint8Array<ArrayBuffer>;
}

export interface EdgeOptions {
  /** 0 takes any free port. */
  readonly port: number;
  readonly dataDir: string;
  /** Root of the project, with dist/ and migrations/. */
  readonly root: string;
  /** Admin secret that lives as long as this process (see edge config). */
  readonly bootstrapSecret: string;
  /** Absent: a minute. */
  readonly cronMs?: number;
  /** Further variables of the Worker, such as `LEASE_MS`. */
  readonly variables?: Record<string, string>;
  /** The Worker's files within `root`, its entry first. Absent: what was built in dist/edge. */
  readonly modules?: readonly EdgeModule[];
}

export interface EdgeHost {
  readonly url: string;
  stop(): Promise<void>;
}

/**
 * The edge on this machine: workerd with D1, R2 and Durable Objects on disk. Requests reach the
 * Worker on a direct socket, which is four times as fast as Miniflare's own entry.
 */
export async function startEdge(options: EdgeOptions): Promise<EdgeHost> {
  const port = options.port === 0 ? await findFreePort() : options.port;
  const state = join(options.dataDir, "edge");
  await mkdir(state, { recursive: true });
  // Here each object gets a file, even one that stores nothing. No stream outlives this process.
  await rm(join(state, "do/millrace-PolicyStream"), { recursive: true, force: true });
  const miniflare = new Miniflare(
    convertV4MiniflareOptions({
      rootPath: options.root,
      host: HOST,
      port: 0,
      log: new Log(LogLevel.ERROR),
      cf: false,
      telemetry: { enabled: false },
      resourcePersistencePath: state,
      workers: [
        {
          name: "millrace",
          compatibilityDate: COMPATIBILITY_DATE,
          compatibilityFlags: ["no_web_socket_compression", "enable_request_signal"],
          modules: [...(options.modules ?? (await listModules(join(options.root, "dist/edge"))))],
          modulesRoot: options.root,
          d1Databases: { DB: "millrace" },
          r2Buckets: { ARTIFACTS: "millrace-artifacts" },
          durableObjects: {
            RUNNER_LINK: { className: "RunnerLink", useSQLite: true },
            JOB_QUEUE: { className: "JobQueue", useSQLite: true },
            POLICY_STREAM: { className: "PolicyStream", useSQLite: true },
          },
          serviceBindings: { ASSETS: "page" },
          bindings: { BOOTSTRAP_SECRET: options.bootstrapSecret, FLUSH_MS: LOCAL_FLUSH_MS, ...options.variables },
          unsafeDirectSockets: [{ host: HOST, port }],
        },
        // The page's files stand in a Worker of their own: Miniflare would put its asset router in
        // front of every request of the Worker that has them.
        {
          name: "page",
          compatibilityDate: COMPATIBILITY_DATE,
          modules: [{ type: "ESModule", path: "page.mjs", contents: "export default {};" }],
          assets: { directory: join(options.root, "dist/dashboard") },
        },
      ],
    }),
  );
  await miniflare.ready;
  await applyMigrations(await miniflare.getD1Database("DB", "millrace"), join(options.root, "migrations"));
  const stopCron = startCron(miniflare, options.cronMs ?? CRON_MS);
  const stop = async () => {
    stopCron();
    await miniflare.dispose();
  };
  return { url: `http://${HOST}:${port}`, stop };
}

/** Calls the Worker's scheduled handler again and again, each time a period after the last call ended. */
function startCron(miniflare: Miniflare, periodMs: number): () => void {
  let timer: NodeJS.Timeout | undefined;
  let isStopped = false;
  const fire = async () => {
    // A worker that was looked up before workerd crashed cannot be called again. The handler reports its own failures.
    await miniflare
      .getWorker("millrace")
      .then((worker) => worker.scheduled({ scheduledTime: new Date() }))
      .catch(() => {});
    if (!isStopped) arm();
  };
  const arm = () => void (timer = setTimeout(() => void fire(), periodMs));
  arm();
  return () => {
    isStopped = true;
    clearTimeout(timer);
  };
}

/** The Worker and the programs that were built beside it. */
async function listModules(folder: string): Promise<EdgeModule[]> {
  const files = await readdir(folder);
  const programs = files.filter((file) => file.endsWith(".wasm"));
  return [
    { type: "ESModule", path: join(folder, "worker.js") },
    ...programs.map((file) => ({ type: "CompiledWasm" as const, path: join(folder, file) })),
  ];
}

function findFreePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const probe = createServer();
    probe.once("error", reject);
    probe.listen(0, HOST, () => {
      const address = probe.address();
      probe.close(() => resolve(typeof address === "object" && address !== null ? address.port : 0));
    });
  });
}
