import { readFile } from "node:fs/promises";
import type { DeviceHost } from "../../device-host/device-host.ts";
import { parseStatusBytes } from "../../host/process-meter.ts";

const EVERY_MS = 200;

type Watched = Pick<DeviceHost, "pid" | "readResidentSet">;

/** Resident set of a process while it was watched; null where it is unavailable. */
export interface ResidentSet {
  readonly peakBytes: number | null;
  readonly grownBytes: number | null;
}

interface Reading {
  readonly nowBytes: number;
  /** Peak since the process began; null where the system does not keep it. */
  readonly peakBytes: number | null;
}

/**
 * Watches the memory of a device's process: from outside where the system reports it, else by asking the process.
 * A peak between two readings is seen only where the system keeps one and it is the highest so far.
 * `stop` reads once more and returns the result; later calls return the same.
 * Source: proc_pid_status(5), VmRSS and VmHWM of Linux's /proc/<pid>/status.
 */
export async function watchResidentSet(
  host: Watched,
  signal: AbortSignal,
): Promise<{ readonly stop: () => Promise<ResidentSet> }> {
  const first = await read(host, signal);
  let highestBytes = first?.nowBytes ?? null;
  let last = first;
  let reading: Promise<void> | null = null;
  const readAgain = async () => {
    last = await read(host, signal);
    highestBytes = last === null ? highestBytes : Math.max(highestBytes ?? 0, last.nowBytes);
  };
  const timer = setInterval(() => {
    reading ??= readAgain().finally(() => (reading = null));
  }, EVERY_MS);
  const conclude = async (): Promise<ResidentSet> => {
    clearInterval(timer);
    await reading;
    await readAgain();
    const grownBytes = first === null || last === null ? null : Math.max(0, last.nowBytes - first.nowBytes);
    return { peakBytes: peakOf(first, last, highestBytes), grownBytes };
  };
  let stopped: Promise<ResidentSet> | null = null;
  return { stop: () => (stopped ??= conclude()) };
}

/** The system's peak, where it rose meanwhile; else the largest reading. */
export function peakOf(first: Reading | null, last: Reading | null, highestBytes: number | null): number | null {
  const [before, after] = [first?.peakBytes ?? null, last?.peakBytes ?? null];
  return before !== null && after !== null && after > before ? after : highestBytes;
}

async function read(host: Watched, signal: AbortSignal): Promise<Reading | null> {
  const { pid } = host;
  const status = pid === null ? null : await readFile(`/proc/${pid}/status`, "utf8").catch(() => null);
  const told = status === null ? null : readStatus(status);
  if (told !== null) return told;
  const nowBytes = await host.readResidentSet(signal).catch(() => null);
  return nowBytes === null ? null : { nowBytes, peakBytes: null };
}

/** Memory in a process's status text; null where it has none. */
export function readStatus(status: string): Reading | null {
  const nowBytes = parseStatusBytes(status, "VmRSS");
  return nowBytes === null ? null : { nowBytes, peakBytes: parseStatusBytes(status, "VmHWM") };
}
