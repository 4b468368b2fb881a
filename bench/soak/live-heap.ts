import { readdir, readFile, readlink } from "node:fs/promises";
import { setTimeout as delay } from "node:timers/promises";

/** Lets each Node process of the service open its inspector on a port of its own, once it is asked to. */
export const INSPECTABLE = { NODE_OPTIONS: "--inspect-port=0" };

const OPENS_WITHIN_MS = 30_000;
const COLLECTION = ["HeapProfiler.enable", "HeapProfiler.collectGarbage", "Runtime.getHeapUsage"] as const;
/** The inspector ends with the question: an open one keeps memory. */
const CLOSE = { expression: 'setTimeout(() => process.getBuiltinModule("node:inspector").close())' };

/**
 * Bytes that a Node process uses after a collection of all garbage: objects, and the buffers that they hold. What its
 * process has beyond that is garbage, code and the allocator's. Null where it does not answer. Linux only.
 * Source: Chrome DevTools Protocol, HeapProfiler.collectGarbage and Runtime.getHeapUsage; Node's SIGUSR1.
 */
export async function readLiveBytes(pid: number): Promise<number | null> {
  const before = new Set(await listPorts(pid));
  process.kill(pid, "SIGUSR1");
  for (let waitedMs = 0; waitedMs < OPENS_WITHIN_MS; waitedMs += 100) {
    await delay(100);
    for (const port of await listPorts(pid)) {
      if (before.has(port)) continue;
      const [target] = (await (await fetch(`http://127.0.0.1:${port}/json/list`)).json()) as Target[];
      return target === undefined ? null : collect(target.webSocketDebuggerUrl);
    }
  }
  return null;
}

interface Target {
  readonly webSocketDebuggerUrl: string;
}

interface HeapUsage {
  readonly usedSize: number;
  readonly backingStorageSize: number;
}

async function collect(url: string): Promise<number> {
  const socket = new WebSocket(url);
  await once(socket, "open");
  const ask = async (id: number, method: string, params = {}) => {
    socket.send(JSON.stringify({ id, method, params }));
    for (;;) {
      const reply = JSON.parse(String((await once(socket, "message")).data)) as { id?: number; result?: HeapUsage };
      if (reply.id === id) return reply.result!;
    }
  };
  let usage: HeapUsage | null = null;
  for (const [id, method] of COLLECTION.entries()) usage = await ask(id, method);
  await ask(COLLECTION.length, "Runtime.evaluate", CLOSE);
  socket.close();
  return usage!.usedSize + usage!.backingStorageSize;
}

/** The next event of a type; rejects where the inspector closes before. */
function once<Type extends "open" | "message">(socket: WebSocket, type: Type): Promise<WebSocketEventMap[Type]> {
  const { promise, resolve, reject } = Promise.withResolvers<WebSocketEventMap[Type]>();
  socket.addEventListener(type, resolve, { once: true });
  socket.addEventListener("close", () => reject(new Error("the inspector closed")), { once: true });
  return promise;
}

/** TCP ports of this machine's own address on which a process listens; see proc(5). */
async function listPorts(pid: number): Promise<number[]> {
  const descriptors = await readdir(`/proc/${pid}/fd`);
  const links = await Promise.all(descriptors.map((each) => readlink(`/proc/${pid}/fd/${each}`).catch(() => "")));
  const inodes = new Set(links.map((link) => /^socket:\[(\d+)\]$/.exec(link)?.[1]));
  const rows = (await readFile(`/proc/${pid}/net/tcp`, "utf8")).split("\n").slice(1);
  return rows.flatMap((row) => {
    const [, local = "", , state, , , , , , inode] = row.trim().split(/\s+/);
    return state === "0A" && inodes.has(inode) ? Number.parseInt(local.split(":")[1]!, 16) : [];
  });
}
