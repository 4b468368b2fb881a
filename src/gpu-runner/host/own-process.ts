import { readFileSync, writeFileSync } from "node:fs";
import { setFlagsFromString } from "node:v8";

/** Growth of the heap until a collection, in percent of the live data. */
const GROWTH_PERCENT = 1_000;

/**
 * Makes V8 collect this process less often. Tensors lie outside its heap, but count towards full collections. Beside
 * some twenty megabytes of live data, each dozen of requests with large tensors caused a collection of tens of
 * milliseconds. Now garbage may be ten times the live data, some 200 MB.
 */
export function collectRarely(): void {
  setFlagsFromString(`--heap-growing-percent=${GROWTH_PERCENT}`);
}

const FILE = "/proc/self/oom_score_adj";
/**
 * Addition to the process's share of memory, of 1,000.
 * Source: proc_pid_oom_score_adj(5).
 */
const SCORE = 500;

/** Lets the system end this process before the runner, which restarts it, when memory runs out. */
export function giveWay(): void {
  try {
    if (Number(readFileSync(FILE, "utf8")) < SCORE) writeFileSync(FILE, String(SCORE));
  } catch {
    // Another system, or a container that forbids the change.
  }
}
