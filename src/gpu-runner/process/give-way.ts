import { readFileSync, writeFileSync } from "node:fs";

const FILE = "/proc/self/oom_score_adj";
/** Of 1,000, added to a process's share of the memory (proc_pid_oom_score_adj(5)). */
const SCORE = 500;

/** Where the machine's memory ends, the system shall end this process and not the runner, which starts it again. */
export function giveWay(): void {
  try {
    if (Number(readFileSync(FILE, "utf8")) < SCORE) writeFileSync(FILE, String(SCORE));
  } catch {
    // Another system, or a container that does not let it be changed.
  }
}
