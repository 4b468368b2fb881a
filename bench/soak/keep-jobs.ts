import { setTimeout as delay } from "node:timers/promises";
import type { Client } from "../../src/client/client.ts";
import { endpoints } from "../../src/protocol/endpoints.ts";

/** Short benchmarks on the runner's GPU, in turn, each followed by a pause. */
const BENCHMARKS = [
  { kind: "benchmark", kernel: "triad", shape: { n: 262_144 }, iterations: 20 },
  { kind: "benchmark", kernel: "gemm", shape: { m: 64, n: 64, k: 64 }, iterations: 20 },
] as const;
const PAUSE_MS = 5_000;
const POLL_MS = 500;
const ENDED = new Set(["succeeded", "failed", "cancelled"]);

/** Jobs by how they ended. */
export type JobCounts = Record<string, number>;

/** Keeps one job after the other running until the signal; then the last one ends, and the counts are returned. */
export async function keepJobs(client: Client, signal: AbortSignal): Promise<JobCounts> {
  const counts: JobCounts = {};
  for (let turn = 0; !signal.aborted; turn++) {
    const job = await client.call(endpoints.createJob, { body: { ...BENCHMARKS[turn % BENCHMARKS.length]! } });
    const state = await waitForEnd(client, job.id);
    counts[state] = (counts[state] ?? 0) + 1;
    await delay(PAUSE_MS, undefined, { signal }).catch(() => undefined);
  }
  return counts;
}

async function waitForEnd(client: Client, id: string): Promise<string> {
  for (;;) {
    const { state } = await client.call(endpoints.getJob, { params: { id } });
    if (ENDED.has(state)) return state;
    await delay(POLL_MS);
  }
}
