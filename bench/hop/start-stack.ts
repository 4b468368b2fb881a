import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { type Client, createClient } from "../../src/client/client.ts";
import { ensureBuilt } from "../../src/local/build.ts";
import { createBootstrapSecret } from "../../src/local/data-folder.ts";
import { startEdge } from "../../src/local/edge-host.ts";
import { prepareLocalRunner } from "../../src/local/register-local-runner.ts";
import { RunnerSupervisor } from "../../src/local/runner-supervisor.ts";
import { endpoints } from "../../src/protocol/endpoints.ts";
import type { Target } from "./frame-client.ts";
import { GcLog, type GcPauses } from "./gc-pauses.ts";
import { BUDGET_MS, type HopCase, nameModel, writeModel } from "./hop-case.ts";
import type { FindTarget } from "./open-stream.ts";

const ROOT = join(import.meta.dirname, "../..");
const CALIBRATION_LIMIT_MS = 120_000;
const RENEW_AFTER_MS = 5_000;

/** Edge and runner as `npm start` has them, in a folder of their own. */
export interface Stack {
  readonly url: string;
  readonly key: string;
  readonly find: FindTarget;
  /** Uploads a model and waits until the runner has calibrated it. */
  place(name: string, content: Uint8Array<ArrayBuffer>): Promise<void>;
  /** Calls the edge as its administrator. */
  readonly client: Client;
  /** Where the runner keeps its credential. */
  readonly runnerFolder: string;
  /** When collectors of the stack stood still, since it was started. */
  readonly readPauses: () => Promise<GcPauses>;
  stop(): Promise<void>;
}

/**
 * Starts the edge on a free port and a runner that serves with its CPU alone, with a listener of its own;
 * the key is a real one, with the scope `infer`.
 */
export async function startStack(say: (text: string) => void): Promise<Stack> {
  await ensureBuilt(ROOT, say);
  say("starting edge and runner");
  const dataDir = await mkdtemp(join(tmpdir(), "millrace-hop-"));
  const cleanups = [() => rm(dataDir, { recursive: true, force: true })];
  const stop = async () => {
    for (const cleanup of cleanups.toReversed()) await cleanup();
  };
  try {
    const bootstrapSecret = createBootstrapSecret();
    const { log, ...variables } = await GcLog.open(dataDir);
    Object.assign(process.env, variables.edge);
    const edge = await startEdge({ port: 0, dataDir, root: ROOT, bootstrapSecret });
    cleanups.push(() => edge.stop());
    const client = createClient({ baseUrl: edge.url, key: bootstrapSecret });
    const { secret: key } = await client.call(endpoints.createKey, { body: { name: "bench", scopes: ["infer"] } });
    const environment = {
      ...(await prepareLocalRunner(client, edge.url, dataDir)),
      ...variables.runner,
      MILLRACE_GPU: "none",
      MILLRACE_DIRECT: "127.0.0.1:0",
    };
    const runner = await RunnerSupervisor.start({ root: ROOT, dataDir, environment });
    cleanups.push(() => runner.stop());
    const place: Stack["place"] = (name, content) => placeModel(client, name, content);
    const find: FindTarget = async (input) => {
      await place(nameModel(input), writeModel(input));
      const target = { url: new URL(endpoints.infer.path, edge.url), bearer: key };
      const aim = input.way === "edge" ? async () => target : aimByTicket(client, input);
      return { aim, close: async () => {} };
    };
    const runnerFolder = join(dataDir, "runner");
    return { url: edge.url, key, find, place, client, runnerFolder, readPauses: () => log.read(), stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** The runner itself, with a ticket that is always good. */
function aimByTicket(client: Client, input: HopCase): () => Promise<Target> {
  let target: Target | null = null;
  let takenAtMs = 0;
  return async () => {
    if (target !== null && performance.now() - takenAtMs < RENEW_AFTER_MS) return target;
    takenAtMs = performance.now();
    const body = { model: nameModel(input), budgetMs: BUDGET_MS };
    const { url, ticket } = await client.call(endpoints.createTicket, { body });
    target = { url: new URL(url), bearer: ticket };
    return target;
  };
}

async function placeModel(client: Client, name: string, content: Uint8Array<ArrayBuffer>): Promise<void> {
  const rawBody = { mediaType: "application/octet-stream", content };
  await client.call(endpoints.uploadModel, { query: { name }, rawBody });
  const endMs = performance.now() + CALIBRATION_LIMIT_MS;
  while (performance.now() < endMs) {
    const { items } = await client.call(endpoints.listPlacements, { params: { model: name } });
    if (items.some(({ state }) => state === "eligible")) return;
    await delay(200);
  }
  throw new Error(`${name} was not calibrated within ${CALIBRATION_LIMIT_MS / 1_000} s`);
}
