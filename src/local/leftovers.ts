import { readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { z } from "zod";

/** Processes by their numbers and when they began, so that a number used again is not mistaken for one. */
const Children = z.array(z.object({ pid: z.int().positive(), startTicks: z.string().nullable() })).catch([]);

const GONE_WITHIN_MS = 2_000;

function pathOf(dataDir: string): string {
  return join(dataDir, "children.json");
}

/** Notes the processes that this one has started: they outlive it if it is killed. Linux only; elsewhere nothing. */
export async function noteChildren(dataDir: string): Promise<void> {
  const listed = await readFile(`/proc/self/task/${process.pid}/children`, "utf8").catch(() => "");
  const pids = listed.trim().split(/\s+/).filter(Boolean).map(Number);
  const children = await Promise.all(pids.map(async (pid) => ({ pid, startTicks: await readStartTicks(pid) })));
  await writeFile(pathOf(dataDir), JSON.stringify(children));
}

/** Ends what a process that was killed left behind: it would still hold the port and the state. */
export async function endLeftovers(dataDir: string): Promise<void> {
  // A file that was cut off while it was written names nobody.
  const noted: unknown = await readFile(pathOf(dataDir), "utf8")
    .then(JSON.parse)
    .catch(() => null);
  for (const { pid, startTicks } of Children.parse(noted)) {
    if (startTicks === null || (await readStartTicks(pid)) !== startTicks) continue;
    try {
      process.kill(pid, "SIGKILL");
    } catch {
      // It ended of itself in this very moment, or has become somebody else's.
      continue;
    }
    for (let waitedMs = 0; waitedMs < GONE_WITHIN_MS && (await readStartTicks(pid)) === startTicks; waitedMs += 20) {
      await delay(20);
    }
  }
  await rm(pathOf(dataDir), { force: true });
}

/** Clock ticks from boot to the process's start (proc(5), field 22), or null where it is gone. */
async function readStartTicks(pid: number): Promise<string | null> {
  const stat = await readFile(`/proc/${pid}/stat`, "utf8").catch(() => null);
  // The second field is the program's name in brackets and may hold spaces.
  const fields = stat?.slice(stat.lastIndexOf(")") + 2).split(" ");
  return fields?.[19] ?? null;
}
