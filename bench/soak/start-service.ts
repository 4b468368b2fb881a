import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { type Client, createClient } from "../../src/client/client.ts";
import { endpoints } from "../../src/protocol/endpoints.ts";
import { WORKER_HEAP } from "../worker-heap.ts";
import { INSPECTABLE } from "./live-heap.ts";

const ROOT = join(import.meta.dirname, "../..");

/** millrace as in `npm start`, in its own processes and folder. */
export interface Service {
  readonly url: string;
  readonly client: Client;
  /** Common ancestor of all its processes. */
  readonly pid: number;
  readonly runnerId: string;
  stop(): Promise<void>;
}

/** Starts it on a free port and waits for its first run. Throws with its last output where that fails. */
export async function startService(): Promise<Service> {
  const dataDir = await mkdtemp(join(tmpdir(), "millrace-soak-"));
  const main = join(ROOT, "src/local/main.ts");
  const child = spawn(process.execPath, [main, "--port", "0", "--data-dir", dataDir, "--json"], {
    cwd: ROOT,
    env: { ...process.env, ...INSPECTABLE, ...WORKER_HEAP },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const stop = async () => {
    if (child.exitCode === null && child.signalCode === null) {
      child.kill("SIGTERM");
      await once(child, "exit");
    }
    await rm(dataDir, { recursive: true, force: true });
  };
  try {
    const { edge: url } = JSON.parse(await firstLine(child)) as { edge: string };
    const key = (await readFile(join(dataDir, "admin.key"), "utf8")).trim();
    const client = createClient({ baseUrl: url, key });
    const { items } = await client.call(endpoints.listRunners, { query: { limit: 1 } });
    return { url, client, pid: child.pid!, runnerId: items[0]!.id, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** The summary, which is printed once all parts run. */
async function firstLine(child: ChildProcess): Promise<string> {
  let words = "";
  child.stderr?.on("data", (chunk: Buffer) => (words = `${words}${chunk.toString()}`.slice(-2_000)));
  for await (const line of createInterface({ input: child.stdout! })) return line;
  throw new Error(`it ended before it served: ${words}`);
}
