import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { writeModel } from "./hop-case.ts";
import type { FindTarget } from "./open-stream.ts";

const PLAIN_HTTP = new URL("plain-http.ts", import.meta.url);
const NODE_PROXY = new URL("node-proxy.ts", import.meta.url);

/** The same backend directly behind Node's HTTP server, in its own process. */
export const findPlainHttp: FindTarget = (input) => startPlain(input, false);

/** The same behind a plain proxy in another process. */
export const findNodeProxy: FindTarget = (input) => startPlain(input, true);

async function startPlain(input: Parameters<FindTarget>[0], isProxied: boolean): ReturnType<FindTarget> {
  const folder = await mkdtemp(join(tmpdir(), "millrace-plain-http-"));
  const model = join(folder, "model.onnx");
  await writeFile(model, writeModel(input));
  const servers: ChildProcess[] = [];
  const close = async () => {
    await Promise.all(servers.map(end));
    await rm(folder, { recursive: true, force: true });
  };
  const start = async (entry: URL, argument: string): Promise<number> => {
    const server = fork(fileURLToPath(entry), [argument], {
      execArgv: [],
      stdio: ["ignore", "ignore", "inherit", "ipc"],
    });
    servers.push(server);
    const ended = once(server, "close").then(() => Promise.reject(new Error(`${entry.pathname} ended`)));
    ended.catch(() => {});
    const [port] = (await Promise.race([once(server, "message"), ended])) as [number];
    return port;
  };
  try {
    const backend = await start(PLAIN_HTTP, model);
    const port = isProxied ? await start(NODE_PROXY, String(backend)) : backend;
    const target = { url: new URL(`http://127.0.0.1:${port}/`), bearer: "none" };
    return { aim: async () => target, close };
  } catch (error) {
    await close();
    throw error;
  }
}

async function end(server: ChildProcess): Promise<void> {
  const closed = server.exitCode === null && server.signalCode === null ? once(server, "close") : null;
  server.kill("SIGKILL");
  await closed;
}
