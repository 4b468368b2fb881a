import { readdir, readFile, readlink } from "node:fs/promises";

/** `0A` in `/proc/net/tcp`: listening. */
const LISTENING = "0A";

/** Process and program that listens; null if the system does not show it to this user. Linux only. */
export async function findHolder(port: number): Promise<string | null> {
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
