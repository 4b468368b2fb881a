import { mkdir, mkdtemp, readdir, readFile, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { type Client, createClient } from "../../src/client/client.ts";
import { createBootstrapSecret } from "../../src/local/data-folder.ts";
import { type EdgeHost, startEdge } from "../../src/local/edge-host.ts";
import { prepareLocalRunner, RunnerSupervisor } from "../../src/local/local-runner.ts";
import { endpoints } from "../../src/protocol/endpoints.ts";
import type { Job } from "../../src/protocol/jobs/job.ts";
import { CACHE_DIR } from "../kernels/software-gpu-cache.ts";
import { childPids } from "../process/child-pids.ts";

const PROJECT = join(import.meta.dirname, "../..");

/**
 * Interval of pings, four times the default: a runner counts as silent after 18 s, and not where its process or the
 * whole machine stands still for some seconds.
 */
export const STACK_PING_MS = 6_000;

export interface LocalStack {
  readonly baseUrl: string;
  readonly adminKey: string;
  readonly dataDir: string;
  readonly client: Client;
  readonly runnerId: string;
  /** Process of the runner in its present life. */
  runnerPid(): number;
  /** Starts another runner, which has the CPU alone, until the stack stops. */
  addRunner(): Promise<{ readonly id: string; pid(): number }>;
  /** Processes that own the runner's devices. */
  devicePids(): Promise<number[]>;
  stopEdge(): Promise<void>;
  /** Starts the edge again on the same state and port. */
  startEdge(): Promise<void>;
  stop(): Promise<void>;
}

interface StackOptions {
  /** The project whose built edge and runner are started; absent: this one. */
  readonly root?: string;
  /** Further variables of the edge, such as `WATCH_MS`. */
  readonly edgeVariables?: Record<string, string>;
  /** Added to the first runner's environment, by the folder that it works in. */
  readonly runnerVariables?: (dataDir: string) => Readonly<Record<string, string>>;
}

/** Edge and runner as `npm start` runs them, on a free port and an empty folder. */
export async function startLocalStack({
  root = PROJECT,
  edgeVariables = {},
  runnerVariables = () => ({}),
}: StackOptions = {}): Promise<LocalStack> {
  const dataDir = await mkdtemp(join(tmpdir(), "millrace-e2e-"));
  const bootstrapSecret = createBootstrapSecret();
  // Most tests need placements, and none of their times.
  const variables = { CALIBRATION_ITERATIONS: "10", PING_MS: String(STACK_PING_MS), ...edgeVariables };
  let edge: EdgeHost = await startEdge({ port: 0, dataDir, root, bootstrapSecret, variables });
  const baseUrl = edge.url;
  const port = Number(new URL(baseUrl).port);
  const bootstrap = createClient({ baseUrl, key: bootstrapSecret });
  const { secret: adminKey } = await bootstrap.call(endpoints.createKey, { body: { name: "test", scopes: ["admin"] } });
  const client = createClient({ baseUrl, key: adminKey });
  const runners: RunnerSupervisor[] = [];
  const startRunner = async (name: string, folder: string, ownVariables: Record<string, string>) => {
    await mkdir(folder, { recursive: true });
    const environment = { ...(await prepareLocalRunner(client, baseUrl, folder)), MILLRACE_RUNNER_NAME: name };
    await linkKept(join(folder, "runner"));
    const runner = await RunnerSupervisor.start({
      root,
      dataDir: folder,
      environment: { ...environment, ...ownVariables },
    });
    runners.push(runner);
    const id = await waitFor(`the runner ${name} to be online`, async () => {
      const { items } = await client.call(endpoints.listRunners);
      return items.find((each) => each.name === name && each.state === "online")?.id;
    });
    return { id, pid: () => runner.pid ?? Number.NaN };
  };
  const { id: runnerId, pid: runnerPid } = await startRunner("local", dataDir, { ...runnerVariables(dataDir) });
  return {
    baseUrl,
    adminKey,
    dataDir,
    client,
    runnerId,
    runnerPid,
    addRunner: () => startRunner("another", join(dataDir, "another"), { MILLRACE_GPU: "none" }),
    devicePids: async () => childPids(runnerPid()),
    stopEdge: () => edge.stop(),
    startEdge: async () => {
      edge = await startEdge({ port, dataDir, root, bootstrapSecret, variables });
    },
    stop: async () => {
      for (const runner of runners) await runner.stop();
      await edge.stop();
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}

/** Roofs of devices, as runners of earlier tests measured them here. */
const ROOFLINES = "rooflines";

/** A software GPU of earlier runs, and its roofs; a runner that finds none makes its own, as that of `npm start` does. */
async function linkKept(runnerDir: string): Promise<void> {
  await mkdir(runnerDir, { recursive: true });
  await mkdir(join(CACHE_DIR, ROOFLINES), { recursive: true });
  for (const name of await readdir(CACHE_DIR)) {
    const isKept = name === ROOFLINES || /^swiftshader-[0-9a-f]+$/.test(name);
    if (isKept) await symlink(join(CACHE_DIR, name), join(runnerDir, name));
  }
}

/** Uploads a model of the zoo and waits until the runner serves it. */
export async function placeModel({ client }: LocalStack, name: string): Promise<void> {
  const content = new Uint8Array(await readFile(join(PROJECT, `models/${name}/${name}.onnx`)));
  await client.call(endpoints.uploadModel, {
    query: { name },
    rawBody: { mediaType: "application/octet-stream", content },
  });
  await waitFor(`${name} to be placed`, async () => {
    const { items } = await client.call(endpoints.listPlacements, { params: { model: name } });
    return items.find(({ state }) => state === "eligible");
  });
}

/** Waits until a job is in one of these states. */
export function waitForJob({ client }: LocalStack, id: string, states: readonly Job["state"][]): Promise<Job> {
  return waitFor(`job ${id} to be ${states.join(" or ")}`, async () => {
    const job = await client.call(endpoints.getJob, { params: { id } });
    return states.includes(job.state) ? job : undefined;
  });
}

/** Asks until there is an answer, or the time is over; an error meanwhile counts as none. */
export async function waitFor<Value>(
  what: string,
  ask: () => Promise<Value | undefined>,
  limitMs = 200_000,
): Promise<Value> {
  let last: unknown = null;
  const endMs = performance.now() + limitMs;
  // Each question costs edge and test some milliseconds, which what is waited for may need.
  for (let pauseMs = 25; performance.now() < endMs; pauseMs = Math.min(1.5 * pauseMs, 200)) {
    try {
      const value = await ask();
      if (value !== undefined) return value;
    } catch (error) {
      last = error;
    }
    await delay(pauseMs);
  }
  throw new Error(`waited in vain for ${what}`, { cause: last });
}
