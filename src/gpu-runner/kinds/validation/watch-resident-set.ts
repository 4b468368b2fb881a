import { readFile } from "node:fs/promises";
import type { DeviceHost } from "../../device-host/device-host.ts";
import { parseStatusBytes } from "../../host/process-meter.ts";

const EVERY_MS = 200;

type Watched = Pick<DeviceHost, "pid" | "readResidentSet">;

/** What the resident set of a process was while it was watched; null where nothing tells. */
export interface ResidentSet {
  readonly peakBytes: number | null;
  readonly grownBytes: number | null;
}

interface Reading {
  readonly nowBytes: number;
  /** Its peak since the process began; null where the system does not keep it. */
  readonly peakBytes: number | null;
}

/**
 * Watches the memory of a device's process, from outside where the system tells of it (Linux's /proc/<pid>/status,
 * VmRSS and VmHWM: proc_pid_status(5)), else by asking. Between two readings a peak is seen only where the system
 * keeps one and it is the highest so far. `stop` reads once more and tells; the same when it is called again.
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

/** The system's peak, where it rose meanwhile; else what the readings saw. */
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

/** What a process' status says of its memory; null where it says nothing. */
export function readStatus(status: string): Reading | null {
  const nowBytes = parseStatusBytes(status, "VmRSS");
  return nowBytes === null ? null : { nowBytes, peakBytes: parseStatusBytes(status, "VmHWM") };
}
