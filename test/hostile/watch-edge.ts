import { readFile } from "node:fs/promises";
import { childPids } from "../process/child-pids.ts";

const SAMPLE_MS = 200;

/** Memory of the edge's processes, and how many of them ended. */
export interface EdgeRecord {
  /** When the watch began, and at most; null where the system does not report it. */
  readonly restBytes: number | null;
  readonly peakBytes: number | null;
  readonly deaths: number;
}

/** Processes of workerd that this process has started; empty where the system does not list them (proc(5)). */
export async function edgePids(): Promise<Set<number>> {
  const pids = await childPids(process.pid).catch(() => []);
  const names = await Promise.all(pids.map((pid) => readFile(`/proc/${pid}/comm`, "utf8").catch(() => "")));
  return new Set(pids.filter((_, index) => names[index]?.trim() === "workerd"));
}

/** Watches the edge's processes, other than those of other edges, until the returned function is called. */
export async function watchEdge(others: ReadonlySet<number>): Promise<() => Promise<EdgeRecord>> {
  const begun = await look(others);
  const gone = new Set<number>();
  let peakBytes = begun.bytes;
  let known = begun.pids;
  const sample = async () => {
    const { pids, bytes } = await look(others);
    for (const pid of known) if (!pids.has(pid)) gone.add(pid);
    known = known.union(pids);
    peakBytes = bytes === null ? peakBytes : Math.max(peakBytes ?? 0, bytes);
  };
  const timer = setInterval(() => void sample(), SAMPLE_MS);
  return async () => {
    clearInterval(timer);
    await sample();
    return { restBytes: begun.bytes, peakBytes, deaths: gone.size };
  };
}

async function look(others: ReadonlySet<number>): Promise<{ pids: Set<number>; bytes: number | null }> {
  const pids = (await edgePids()).difference(others);
  const sizes = await Promise.all([...pids].map(residentBytes));
  const bytes = sizes.reduce((sum, size) => sum + size, 0);
  return { pids, bytes: bytes === 0 ? null : bytes };
}

async function residentBytes(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, "utf8").catch(() => "");
  return 1_024 * Number(/^VmRSS:\s+(\d+) kB/m.exec(status)?.[1] ?? 0);
}
