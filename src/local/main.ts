import { Command, InvalidArgumentError } from "commander";
import { once } from "node:events";
import { createServer } from "node:net";
import { join, resolve } from "node:path";
import { createClient } from "../client/client.ts";
import { endpoints } from "../protocol/endpoints.ts";
import { ProblemError } from "../protocol/wire/problem.ts";
import { ensureBuilt } from "./build.ts";
import {
  adminKeyPath,
  createBootstrapSecret,
  LocalError,
  lockDataFolder,
  readAdminKey,
  writeAdminKey,
} from "./data-folder.ts";
import { type EdgeHost, startEdge } from "./edge-host.ts";
import { performFirstRun, showProgress } from "./first-run.ts";
import { endLeftovers, noteChildren } from "./leftovers.ts";
import { prepareLocalRunner, RunnerSupervisor } from "./local-runner.ts";
import { renderSummary, type Summary } from "./summary.ts";

interface LocalOptions {
  readonly once: boolean;
  readonly json: boolean;
  readonly port: number;
  readonly dataDir: string;
  readonly runner: boolean;
}

/** Options of `npm start`; a wrong one ends the process with a sentence and code 1. */
function parseArguments(argv: readonly string[]): LocalOptions {
  const command = new Command("npm start --")
    .description("One machine: the edge, a runner, and the first run")
    .option("--once", "stop after the summary", false)
    .option("--json", "print the summary as one JSON object", false)
    .option("--port <number>", "port of the edge on 127.0.0.1; 0 takes a free one", parsePort, 8787)
    .option("--data-dir <folder>", "where everything is kept", ".millrace")
    .option("--no-runner", "start the edge alone")
    .parse(argv, { from: "user" });
  const options = command.opts<LocalOptions>();
  return { ...options, dataDir: resolve(options.dataDir) };
}

function parsePort(text: string): number {
  const port = Number(text);
  if (!Number.isInteger(port) || port < 0 || port > 65_535)
    throw new InvalidArgumentError("must be a port, 0 to 65535.");
  return port;
}

const root = join(import.meta.dirname, "../..");

/** One machine: builds, starts edge and runner, makes the first run, and goes on serving. */
async function main(options: LocalOptions, stopping: AbortSignal): Promise<void> {
  const startedMs = performance.now();
  const progress = showProgress(process.stderr);
  const cleanups: (() => Promise<void>)[] = [await lockDataFolder(options.dataDir)];
  const stopped = stopping.aborted ? Promise.resolve() : once(stopping, "abort").then(() => undefined);
  try {
    await endLeftovers(options.dataDir);
    await refuseTakenPort(options.port);
    await ensureBuilt(root, (step) => progress.step(step));
    progress.step("Starting the edge");
    const bootstrapSecret = createBootstrapSecret();
    const edge = await startEdge({ port: options.port, dataDir: options.dataDir, root, bootstrapSecret });
    cleanups.push(() => edge.stop());
    await noteChildren(options.dataDir);
    const key = await ensureAdminKey(edge, bootstrapSecret, options.dataDir);
    const client = createClient({ baseUrl: edge.url, key });
    const work = async (): Promise<Partial<Summary>> => {
      if (!options.runner) return {};
      const environment = await prepareLocalRunner(client, edge.url, options.dataDir);
      const runner = await RunnerSupervisor.start({ root, dataDir: options.dataDir, environment });
      cleanups.push(() => runner.stop());
      return performFirstRun({ client, root, dataDir: options.dataDir, progress });
    };
    const found = await Promise.race([work(), stopped]);
    if (found === undefined) return;
    const none = { runner: null, benchmark: null, inference: null, history: { series: 0, points: 0 } };
    const elapsedMs = Math.round(performance.now() - startedMs);
    print({ edge: edge.url, ...none, ...found, elapsedMs }, options, key);
    if (!options.once) await stopped;
  } finally {
    for (const cleanup of cleanups.toReversed()) await cleanup();
  }
}

/** The key of earlier starts, or a new one, which is printed this once. */
async function ensureAdminKey(edge: EdgeHost, bootstrapSecret: string, dataDir: string): Promise<string> {
  const stored = await readAdminKey(dataDir);
  if (stored !== null && (await works(edge.url, stored))) return stored;
  const client = createClient({ baseUrl: edge.url, key: bootstrapSecret });
  const { secret } = await client.call(endpoints.createKey, { body: { name: "local-admin", scopes: ["admin"] } });
  await writeAdminKey(dataDir, secret);
  process.stderr.write(`\nAdmin key (kept in ${adminKeyPath(dataDir)}, not shown again): ${secret}\n`);
  return secret;
}

async function works(baseUrl: string, key: string): Promise<boolean> {
  return createClient({ baseUrl, key })
    .call(endpoints.listKeys, { query: { limit: 1 } })
    .then(
      () => true,
      () => false,
    );
}

function print(summary: Summary, { json, once: stops }: LocalOptions, key: string): void {
  if (json) process.stdout.write(`${JSON.stringify(summary)}\n`);
  else process.stdout.write(`\n${renderSummary(summary, `${summary.edge}/#key=${key}`)}\n`);
  if (!stops) process.stderr.write("Serving. Ctrl-C stops everything.\n");
}

/** Finds out before anything is built; the edge itself would only say that it failed. */
async function refuseTakenPort(port: number): Promise<void> {
  if (port === 0) return;
  const probe = createServer();
  try {
    probe.listen(port, "127.0.0.1");
    await once(probe, "listening");
  } catch (error) {
    const reason = (error as NodeJS.ErrnoException).code === "EACCES" ? "may not be used by you" : "is taken";
    throw new LocalError(`Port ${port} ${reason}: stop what listens there, or choose another with --port.`);
  } finally {
    probe.close();
  }
}

function explain(error: unknown): string {
  if (error instanceof LocalError) return error.message;
  if (error instanceof ProblemError) return `${error.problem.title}: ${error.problem.detail}`;
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}

const stopping = new AbortController();
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => stopping.abort());
main(parseArguments(process.argv.slice(2)), stopping.signal).then(
  () => process.exit(0),
  (error: unknown) => {
    process.stderr.write(`\nmillrace: ${explain(error)}\n`);
    process.exit(1);
  },
);
