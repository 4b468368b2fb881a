import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as delay } from "node:timers/promises";
import { type Client, createClient } from "../../src/client/client.ts";
import { readAdminKey } from "../../src/local/data-folder.ts";
import { endpoints } from "../../src/protocol/endpoints.ts";
import { LIMITS } from "../../src/protocol/wire/limits.ts";
import { ROOT } from "../hop/start-stack.ts";
import { listTree, measureMemory, signalAll } from "./process-tree.ts";
import type { RunningServer } from "./peer-servers.ts";
import { type Call, callByOip, Sender } from "./requests.ts";
import type { ServedNetwork } from "./served-network.ts";

/** Ways to ours: through the edge, and with a ticket to the runner's own listener. */
export const WAYS = ["edge", "direct"] as const;
export type Way = (typeof WAYS)[number];

/** A ticket holds for so long; a new one is taken before each measurement. */
const TICKET = { budgetMs: 20_000, lifeMs: LIMITS.maxTicketMs, requests: LIMITS.maxTicketRequests };
const CALIBRATION_LIMIT_MS = 180_000;
const STOP_LIMIT_MS = 20_000;

/** `npm start` without a GPU, as the peers have none, with a network that is placed on its CPU. */
export async function startOurs(network: ServedNetwork): Promise<Readonly<Record<Way, RunningServer>>> {
  const dataDir = await mkdtemp(join(tmpdir(), "millrace-serve-"));
  const startedAt = performance.now();
  const child = spawn(
    process.execPath,
    [join(ROOT, "src/local/start.mjs"), "--json", "--port", "0", "--data-dir", dataDir],
    {
      cwd: ROOT,
      env: { ...process.env, MILLRACE_GPU: "none", MILLRACE_DIRECT: "127.0.0.1:0" },
      stdio: ["ignore", "pipe", "ignore"],
    },
  );
  const ended = once(child, "exit");
  const ids = () => listTree(child.pid!);
  const stop = async () => {
    if (child.exitCode === null && child.signalCode === null) {
      const all = await ids();
      child.kill("SIGTERM");
      await Promise.race([ended, delay(STOP_LIMIT_MS)]);
      signalAll(all, "SIGKILL");
      await ended;
    }
    await rm(dataDir, { recursive: true, force: true });
  };
  try {
    const [line] = (await Promise.race([once(createInterface({ input: child.stdout }), "line"), ended])) as [unknown];
    if (typeof line !== "string") throw new Error("npm start ended");
    const { edge } = JSON.parse(line) as { edge: string };
    const client = createClient({ baseUrl: edge, key: (await readAdminKey(dataDir))! });
    await place(client, network);
    const body = { name: "bench", scopes: ["infer" as const], requestsPerSecond: LIMITS.keyRequestsPerSecond };
    const { secret } = await client.call(endpoints.createKey, { body });
    const path = `/v2/models/${network.name}/infer`;
    const callBy: Readonly<Record<Way, RunningServer["call"]>> = {
      edge: async (tensor, encoding) =>
        callByOip({ url: new URL(path, edge), bearer: secret, deadline: "budget_ms" }, tensor, encoding),
      direct: async (tensor, encoding) => {
        const { url, ticket } = await client.call(endpoints.createTicket, {
          body: { model: network.name, ...TICKET },
        });
        return callByOip({ url: new URL(path, url), bearer: ticket, deadline: "budget_ms" }, tensor, encoding);
      },
    };
    await askOnce(await callBy.edge(network.input, "JSON"));
    const startMs = performance.now() - startedAt;
    const running = (way: Way): RunningServer => ({
      call: callBy[way],
      startMs,
      measureMemory: async () => measureMemory(await ids()),
      // The link between edge and runner would break; both idle between measurements.
      pause: async () => {},
      resume: async () => {},
      stop,
    });
    return { edge: running("edge"), direct: running("direct") };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function askOnce(call: Call | null): Promise<void> {
  const sender = new Sender();
  const { status } = await sender.send(call!, TICKET.budgetMs);
  sender.close();
  if (status !== 200) throw new Error(`the first request was answered by ${status}`);
}

/** Uploads the network and waits until its placement and its jobs are done. */
async function place(client: Client, { name, file }: ServedNetwork): Promise<void> {
  const rawBody = { mediaType: "application/octet-stream", content: file };
  await client.call(endpoints.uploadModel, { query: { name }, rawBody });
  const endMs = performance.now() + CALIBRATION_LIMIT_MS;
  while (performance.now() < endMs) {
    const { items } = await client.call(endpoints.listPlacements, { params: { model: name } });
    const { items: jobs } = await client.call(endpoints.listJobs);
    const isCalm = jobs.every(({ state }) => state !== "queued" && state !== "leased");
    if (isCalm && items.some(({ state, backend }) => state === "eligible" && backend === "ort-cpu")) return;
    await delay(200);
  }
  throw new Error(`${name} was not calibrated within ${CALIBRATION_LIMIT_MS / 1_000} s`);
}
