import { setTimeout as delay } from "node:timers/promises";
import { type ProcessSample, type Role, sampleProcesses } from "./sample-processes.ts";

const EVERY_MS = 5_000;

/** Samples of all processes at a moment, in seconds from the beginning of the watch. */
export interface TimedSample {
  readonly atS: number;
  readonly roles: ReadonlyMap<Role, ProcessSample>;
}

/** Samples the processes every five seconds until the signal. */
export async function watchProcesses(rootPid: number, signal: AbortSignal): Promise<TimedSample[]> {
  const samples: TimedSample[] = [];
  const startedMs = performance.now();
  while (!signal.aborted) {
    const roles = await sampleProcesses(rootPid);
    samples.push({ atS: (performance.now() - startedMs) / 1e3, roles });
    await delay(EVERY_MS, undefined, { signal }).catch(() => undefined);
  }
  return samples;
}
