import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { DatabaseSync } from "node:sqlite";
import { type Client, createClient } from "../../src/client/client.ts";
import { createBootstrapSecret } from "../../src/local/data-folder.ts";
import { type EdgeOptions, startEdge } from "../../src/local/edge-host.ts";
import { endpoints } from "../../src/protocol/endpoints.ts";
import { type Lease, LINK_SUBPROTOCOL, PING } from "../../src/protocol/link.ts";
import { RunnerScript } from "../edge/stack/runner-script.ts";
import { capabilities } from "../edge/stack/samples.ts";
import { openStoredDatabase } from "./stored-database.ts";

const root = join(import.meta.dirname, "../..");
/** Short enough to see a silent socket die, long enough for a machine that stands still for some seconds. */
export const PING_MS = 4_000;

export interface LiveEdge {
  readonly url: string;
  readonly key: string;
  readonly client: Client;
  /** Stops the edge, gives its database to `work`, and starts it again on the same port. */
  whileStopped(work: (database: DatabaseSync) => void): Promise<void>;
  stop(): Promise<void>;
}

/** The built edge in workerd, on a free port and an empty folder. */
export async function startLiveEdge(options: Pick<EdgeOptions, "cronMs" | "variables"> = {}): Promise<LiveEdge> {
  const dataDir = await mkdtemp(join(tmpdir(), "millrace-contract-"));
  const bootstrapSecret = createBootstrapSecret();
  const variables = { PING_MS: String(PING_MS), HEARTBEAT_MS: "500", LEASE_MS: "20000", RESEND_MS: "500" };
  const start = (port: number) =>
    startEdge({
      ...options,
      port,
      dataDir,
      root,
      bootstrapSecret,
      variables: { ...variables, ...options.variables },
    });
  let edge = await start(0);
  const { url } = edge;
  const client = createClient({ baseUrl: url, key: bootstrapSecret });
  return {
    url,
    key: bootstrapSecret,
    client,
    whileStopped: async (work) => {
      await edge.stop();
      const database = await openStoredDatabase(dataDir);
      work(database);
      database.close();
      edge = await start(Number(new URL(url).port));
    },
    stop: async () => {
      await edge.stop();
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}

export interface RegisteredRunner {
  readonly runnerId: string;
  readonly credential: string;
  readonly linkUrl: string;
}

export async function registerRunner({ client }: LiveEdge): Promise<RegisteredRunner> {
  const { token } = await client.call(endpoints.createRegistrationToken, { body: {} });
  return client.call(endpoints.registerRunner, { body: { token, name: "scripted" } });
}

/** A scripted runner on a real socket. */
export async function connectRunner({ linkUrl, credential }: RegisteredRunner): Promise<RunnerScript> {
  const headers = { authorization: `Bearer ${credential}` };
  const socket = new WebSocket(linkUrl, { protocols: [LINK_SUBPROTOCOL], headers } as never);
  socket.binaryType = "arraybuffer";
  await new Promise<void>((resolve, reject) => {
    socket.addEventListener("open", () => resolve());
    socket.addEventListener("error", () => reject(new Error(`${linkUrl} refused the runner`)));
  });
  return new RunnerScript(socket);
}

/** Connects, pings as a live runner does, says hello and waits for the welcome. */
export async function bringOnline(runner: RegisteredRunner, running: Lease[] = []): Promise<RunnerScript> {
  const script = await connectRunner(runner);
  const ping = setInterval(() => script.socket.send(PING), PING_MS / 3);
  script.socket.addEventListener("close", () => clearInterval(ping));
  script.send({ type: "hello", capabilities, running });
  await script.next("welcome");
  return script;
}

export function readModel(name: string): Promise<Uint8Array<ArrayBuffer>> {
  return readFile(join(root, `models/${name}/${name}.onnx`)).then((bytes) => new Uint8Array(bytes));
}
