import { readFile } from "node:fs/promises";

/** Processes that a process has started and that still are. */
export async function childPids(pid: number): Promise<number[]> {
  const text = await readFile(`/proc/${pid}/task/${pid}/children`, "utf8");
  return text.trim().split(/\s+/).filter(Boolean).map(Number);
}
