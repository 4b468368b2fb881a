import { readdir, readFile } from "node:fs/promises";

/** Ids of a process and of all below it; empty where it has ended. */
export async function listTree(root: number): Promise<number[]> {
  const ids = (await readdir("/proc")).map(Number).filter((id) => Number.isInteger(id) && id > 0);
  const parents = new Map(
    await Promise.all(
      ids.map(async (id) => {
        const stat = await readFile(`/proc/${id}/stat`, "utf8").catch(() => "");
        // The name before the parent may have spaces and brackets.
        return [id, Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[1])] as const;
      }),
    ),
  );
  const found: number[] = parents.has(root) ? [root] : [];
  for (const parent of found) for (const [id, of] of parents) if (of === parent) found.push(id);
  return found;
}

/** Memory of the processes: pages that several of them share count once in all. In MB. */
export async function measureMemory(ids: readonly number[]): Promise<number> {
  const sizes = await Promise.all(
    ids.map(async (id) => {
      const text = await readFile(`/proc/${id}/smaps_rollup`, "utf8").catch(() => "");
      return Number(/^Pss:\s+(\d+) kB/m.exec(text)?.[1] ?? 0);
    }),
  );
  return sizes.reduce((sum, kib) => sum + kib, 0) * 1.024e-3;
}

export function signalAll(ids: readonly number[], signal: NodeJS.Signals): void {
  for (const id of ids) {
    try {
      process.kill(id, signal);
    } catch {
      // It has ended.
    }
  }
}
