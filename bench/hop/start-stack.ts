import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { type Client, createClient } from "../../src/client/client.ts";
import { ensureBuilt } from "../../src/local/build.ts";
import { createBootstrapSecret } from "../../src/local/data-folder.ts";
import { startEdge } from "../../src/local/edge-host.ts";
import { prepareLocalRunner, RunnerSupervisor } from "../../src/local/local-runner.ts";
import { endpoints } from "../../src/protocol/endpoints.ts";
import type { Backend } from "../../src/protocol/fleet/hardware.ts";

export const ROOT = join(import.meta.dirname, "../..");
const CALIBRATION_LIMIT_MS = 120_000;

/** Address of the backend for a client. */
export interface Target {
  readonly url: string;
  readonly key: string;
}

/** Environment variables of the processes. */
export interface StackVariables {
  readonly edge: Readonly<Record<string, string>>;
  readonly runner: Readonly<Record<string, string>>;
}

/** Options that differ between benches. */
interface StackOptions {
  readonly variables?: StackVariables;
  /** Fills the folder before the edge runs there. */
  readonly prepare?: (dataDir: string) => Promise<void>;
  /** Default: a minute. */
  readonly cronMs?: number;
}

/** Edge and runner as in `npm start`, in their own folder. */
export interface Stack extends Target {
  /**
   * Uploads a model, waits until the runner has calibrated it (by this backend, if named), and returns the version's
   * id.
   */
  place(name: string, content: Uint8Array<ArrayBuffer>, backend?: Backend): Promise<string>;
  /** Calls the edge as its administrator. */
  readonly client: Client;
  /** Folder of the runner's credential. */
  readonly runnerFolder: string;
  stop(): Promise<void>;
}

/**
 * Starts the edge on a free port and a runner that serves with its CPU alone and has its own listener; the key is a
 * real one, with the scope `infer`.
 */
export async function startStack(
  say: (text: string) => void,
  { variables = { edge: {}, runner: {} }, prepare, ...options }: StackOptions = {},
): Promise<Stack> {
  await ensureBuilt(ROOT, say);
  const dataDir = await mkdtemp(join(tmpdir(), "millrace-hop-"));
  const cleanups = [() => rm(dataDir, { recursive: true, force: true })];
  const stop = async () => {
    for (const cleanup of cleanups.toReversed()) await cleanup();
  };
  try {
    await prepare?.(dataDir);
    say("starting edge and runner");
    const bootstrapSecret = createBootstrapSecret();
    Object.assign(process.env, variables.edge);
    cleanups.push(async () => {
      for (const name of Object.keys(variables.edge)) delete process.env[name];
    });
    const edge = await startEdge({ ...options, port: 0, dataDir, root: ROOT, bootstrapSecret });
    cleanups.push(() => edge.stop());
    const client = createClient({ baseUrl: edge.url, key: bootstrapSecret });
    const { secret: key } = await client.call(endpoints.createKey, { body: { name: "bench", scopes: ["infer"] } });
    const registered = await prepareLocalRunner(client, edge.url, dataDir);
    const environment = { ...registered, ...variables.runner, MILLRACE_GPU: "none", MILLRACE_DIRECT: "127.0.0.1:0" };
    const runner = await RunnerSupervisor.start({ root: ROOT, dataDir, environment });
    cleanups.push(() => runner.stop());
    const place: Stack["place"] = (...model) => placeModel(client, ...model);
    return { url: edge.url, key, place, client, runnerFolder: join(dataDir, "runner"), stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function placeModel(client: Client, ...[name, content, wanted]: Parameters<Stack["place"]>): Promise<string> {
  const rawBody = { mediaType: "application/octet-stream", content };
  const { version } = await client.call(endpoints.uploadModel, { query: { name }, rawBody });
  const endMs = performance.now() + CALIBRATION_LIMIT_MS;
  while (performance.now() < endMs) {
    const { items } = await client.call(endpoints.listPlacements, { params: { model: name } });
    if (items.some(({ state, backend }) => state === "eligible" && backend === (wanted ?? backend))) return version.id;
    await delay(200);
  }
  throw new Error(`${name} was not calibrated within ${CALIBRATION_LIMIT_MS / 1_000} s`);
}
