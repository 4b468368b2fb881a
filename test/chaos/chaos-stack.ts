import { mkdir, mkdtemp, readFile } from "node:fs/promises";
import { type AddressInfo, createServer } from "node:net";
import { once } from "node:events";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Client, createClient } from "../../src/client/client.ts";
import { createRetry } from "../../src/client/retry.ts";
import { createBootstrapSecret } from "../../src/local/data-folder.ts";
import { endpoints } from "../../src/protocol/endpoints.ts";
import { EdgeMessage } from "../../src/protocol/link.ts";
import { parseJson } from "../../src/protocol/wire/parse-json.ts";
import { waitFor } from "../e2e/local-stack.ts";
import { ChaosEdge } from "./chaos-edge.ts";
import { ChaosRunner } from "./chaos-runner.ts";
import type { Ledger } from "./promises/ledger.ts";
import { LinkProxy } from "./faults/link-proxy.ts";
import { type Guardian, startGuardian } from "./start-guardian.ts";

/** Longest time for a runner to be ready on a busy machine. */
const START_MS = 300_000;

const root = join(import.meta.dirname, "../..");

/** Stack under test of a run. */
export interface ChaosStack {
  readonly dataDir: string;
  readonly edge: ChaosEdge;
  readonly runners: readonly ChaosRunner[];
  /** Every request goes once, on a connection of its own. */
  readonly client: Client;
  /** Client for questions: repeats requests that fail on the way. */
  readonly patientClient: Client;
  /** Ends everything; gives the processes that stayed all the same. */
  stop(): Promise<number[]>;
}

/** The edge, a runner with a GPU (a software one where there is no other) and further ones with the CPU alone. */
export async function startChaosStack(runnerCount: number, ledger: Ledger): Promise<ChaosStack> {
  const guardian = startGuardian();
  const dataDir = await mkdtemp(join(tmpdir(), "millrace-chaos-"));
  guardian.tell({ folder: dataDir });
  const bootstrapSecret = createBootstrapSecret();
  const port = await findFreePort();
  const edge = new ChaosEdge({ port, dataDir, bootstrapSecret, guardian });
  try {
    await edge.start();
    const bootstrap = createClient({ baseUrl: edge.url, key: bootstrapSecret });
    const { secret } = await bootstrap.call(endpoints.createKey, { body: { name: "chaos", scopes: ["admin"] } });
    const client = createClient({ baseUrl: edge.url, key: secret, fetch: fetchApart });
    const retry = createRetry({ attempts: 20, totalMs: 60_000 });
    const patientClient = createClient({ baseUrl: edge.url, key: secret, fetch: fetchApart, retry });
    const runners: ChaosRunner[] = [];
    for (let place = 0; place < runnerCount; place++) {
      const runner = await startRunner({ place, port, dataDir, client, guardian, ledger });
      runners.push(runner);
      ledger.runnerIds.push(runner.id);
    }
    const stop = async () => {
      for (const runner of runners) await runner.stop();
      for (const { proxy } of runners) await proxy.close();
      const left = await edge.stop();
      await guardian.release();
      return left;
    };
    return { dataDir, edge, runners, client, patientClient, stop };
  } catch (error) {
    await guardian.release();
    throw error;
  }
}

interface RunnerPlace {
  readonly place: number;
  readonly port: number;
  readonly dataDir: string;
  readonly client: Client;
  readonly guardian: Guardian;
  readonly ledger: Ledger;
}

async function startRunner({ place, port, dataDir, client, guardian, ledger }: RunnerPlace): Promise<ChaosRunner> {
  const name = `runner-${place}`;
  const folder = join(dataDir, name);
  await mkdir(folder, { recursive: true });
  const proxy = await LinkProxy.open(port, (text) => noteOffer(ledger, name, text));
  const runner = new ChaosRunner({
    name,
    dataDir: folder,
    root,
    environment: {
      MILLRACE_EDGE: `http://127.0.0.1:${proxy.port}`,
      MILLRACE_RUNNER_DIR: join(folder, "runner"),
      MILLRACE_RUNNER_NAME: name,
      ...(place > 0 && { MILLRACE_GPU: "none" }),
    },
    proxy,
    guardian,
    onOrphans: (of, pids) => ledger.orphans.push({ runner: of, pids }),
    onEnd: (of, how) => ledger.ends.push({ runner: of, how }),
  });
  const { token } = await client.call(endpoints.createRegistrationToken, { body: {} });
  runner.start({ MILLRACE_TOKEN: token });
  runner.id = await waitFor(
    `${name} to be online`,
    async () => {
      const { items } = await client.call(endpoints.listRunners);
      return items.find((each) => each.name === name && each.state === "online")?.id;
    },
    START_MS,
  );
  return runner;
}

function noteOffer(ledger: Ledger, runner: string, text: string): void {
  if (!text.startsWith('{"type":"offer"')) return;
  const message = EdgeMessage.parse(parseJson(text));
  if (message.type !== "offer") return;
  const { lease, attempt } = message;
  ledger.offers.push({ runner, lease, attempt });
}

/** Uploads a model of the zoo and waits until every runner serves it. */
export async function placeEverywhere({ client, runners }: ChaosStack, name: string): Promise<void> {
  const content = new Uint8Array(await readFile(join(root, `models/${name}/${name}.onnx`)));
  await client.call(endpoints.uploadModel, {
    query: { name },
    rawBody: { mediaType: "application/octet-stream", content },
  });
  for (const { id, name: runner } of runners) {
    await waitFor(
      `${name} to be placed on ${runner}`,
      async () => {
        const { items } = await client.call(endpoints.listPlacements, { params: { model: name } });
        return items.find(({ runnerId, state }) => runnerId === id && state === "eligible");
      },
      START_MS,
    );
  }
}

/** On a separate connection, so that no request suffers from an earlier one's fate. */
function fetchApart(input: RequestInfo | URL, init: RequestInit = {}): Promise<Response> {
  const headers = new Headers(init.headers);
  headers.set("connection", "close");
  return fetch(input, { ...init, headers });
}

async function findFreePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  return port;
}
