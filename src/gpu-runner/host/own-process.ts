import { readFileSync, writeFileSync } from "node:fs";
import { setFlagsFromString } from "node:v8";

/** Percent of what lives by which the heap may grow until it is collected. */
const GROWTH_PERCENT = 1_000;

/**
 * Makes V8 collect this process less often. Tensors lie outside of its heap, but count towards when that is
 * collected as a whole: beside some twenty megabytes that live, each dozen of requests with large tensors
 * brought a collection of tens of milliseconds. Now garbage may be ten times what lives, some 200 MB.
 */
export function collectRarely(): void {
  setFlagsFromString(`--heap-growing-percent=${GROWTH_PERCENT}`);
}

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
