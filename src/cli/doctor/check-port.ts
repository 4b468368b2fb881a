import { once } from "node:events";
import { readdir, readFile, readlink } from "node:fs/promises";
import { createServer } from "node:net";
import { isLocal } from "../context/choose-edge.ts";
import { fail, ok, type Patient, skip, type Verdict } from "./finding.ts";
import { reachEdge } from "./check-edge.ts";

/** `0A` in `/proc/net/tcp`: listening. */
const LISTENING = "0A";

/** Whether `millrace up` could listen, or already does. */
export async function checkPort({ port, edgeUrl, fetch, isPacked }: Patient): Promise<Verdict> {
  if (isPacked) return skip("a packed runner starts no edge");
  const refused = await tryPort(port);
  if (refused === null) return ok(`${port} is free`);
  if (refused === "EACCES") return fail(`${port} may not be used by you`, "Choose one above 1023 with --port.");
  const isOwn = isLocal(edgeUrl) && new URL(edgeUrl).port === String(port);
  if (isOwn && (await reachEdge(edgeUrl, fetch)).kind === "edge") {
    return ok(`${port} is held by the edge itself`);
  }
  const holder = await findHolder(port);
  return fail(
    `${port} is taken by ${holder ?? "a process of somebody else"}`,
    "Stop it, or choose another with --port.",
  );
}

async function tryPort(port: number): Promise<string | null> {
  const probe = createServer();
  try {
    probe.listen(port, "127.0.0.1");
    await once(probe, "listening");
    return null;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code ?? "";
  } finally {
    probe.close();
  }
}

/** Process and program that listens; null if the system does not show it to this user. Linux only. */
async function findHolder(port: number): Promise<string | null> {
  const tables = await Promise.all(
    ["tcp", "tcp6"].map((name) => readFile(`/proc/net/${name}`, "utf8").catch(() => "")),
  );
  const sockets = new Set(tables.flatMap((table) => listListeners(table, port)).map((inode) => `socket:[${inode}]`));
  const pids = (await readdir("/proc").catch(() => [])).filter((name) => /^\d+$/.test(name));
  for (const pid of pids) {
    for (const descriptor of await readdir(`/proc/${pid}/fd`).catch(() => [])) {
      if (!sockets.has(await readlink(`/proc/${pid}/fd/${descriptor}`).catch(() => ""))) continue;
      const program = await readFile(`/proc/${pid}/comm`, "utf8").catch(() => "");
      return `process ${pid} (${program.trim()})`;
    }
  }
  return null;
}

/** Inodes of the sockets that listen on a port, out of `/proc/net/tcp` (Linux, proc_pid_net(5)). */
export function listListeners(table: string, port: number): string[] {
  const suffix = `:${port.toString(16).toUpperCase().padStart(4, "0")}`;
  const rows = table.split("\n").map((line) => line.trim().split(/\s+/));
  return rows
    .filter(([, local = "", , state]) => local.endsWith(suffix) && state === LISTENING)
    .map((row) => row[9] ?? "");
}
