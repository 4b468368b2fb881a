import { readFile } from "node:fs/promises";
import { parsePids, parseProcessTimes, parseStatusBytes, type ProcessTimes } from "./parse-proc.ts";

/** A process in a span; null is not told by this system, or it has ended. */
export interface ProcessUse {
  readonly cpuMs: number | null;
  readonly rssBytes: number | null;
}

/** The runner's processes in a span. */
export interface ProcessUses {
  /** This process, its children and those of them that have ended. */
  readonly own: ProcessUse;
  readonly byPid: ReadonlyMap<number, ProcessUse>;
}

const NOTHING: ProcessUse = { cpuMs: null, rssBytes: null };

/** What this process and its children take of CPU and memory, by `/proc`; nothing elsewhere than on Linux. */
export class ProcessMeter {
  /** CPU time so far, by process, and of all together. */
  #lastMs = new Map<number, number>();
  #lastOwnMs: number | null = null;

  /** Since the last reading; a process that is new is counted from its start, all others together from the first reading. */
  async read(): Promise<ProcessUses> {
    const [self, children] = await Promise.all([readProcess(process.pid), readChildren()]);
    const byPid = new Map<number, ProcessUse>();
    const nowMs = new Map<number, number>();
    let ownMs = (self?.times.cpuMs ?? 0) + (self?.times.endedChildrenMs ?? 0);
    let rssBytes = self?.rssBytes ?? 0;
    for (const { pid, times, rssBytes: ofChild } of children) {
      const cpuMs = times.cpuMs + times.endedChildrenMs;
      nowMs.set(pid, cpuMs);
      byPid.set(pid, { cpuMs: cpuMs - (this.#lastMs.get(pid) ?? 0), rssBytes: ofChild });
      ownMs += cpuMs;
      rssBytes += ofChild ?? 0;
    }
    // Between the readings one may have ended that is in neither sum: time does not run backwards.
    const cpuMs = this.#lastOwnMs === null ? 0 : Math.max(0, ownMs - this.#lastOwnMs);
    this.#lastMs = nowMs;
    this.#lastOwnMs = ownMs;
    return { own: self === null ? NOTHING : { cpuMs, rssBytes }, byPid };
  }
}

interface ProcessReading {
  readonly pid: number;
  readonly times: ProcessTimes;
  readonly rssBytes: number | null;
}

async function readProcess(pid: number): Promise<ProcessReading | null> {
  const read = (name: string) => readFile(`/proc/${pid}/${name}`, "utf8").catch(() => "");
  const [stat, status] = await Promise.all([read("stat"), read("status")]);
  const times = parseProcessTimes(stat);
  return times === null ? null : { pid, times, rssBytes: parseStatusBytes(status, "VmRSS") };
}

async function readChildren(): Promise<ProcessReading[]> {
  const { pid } = process;
  const pids = parsePids(await readFile(`/proc/${pid}/task/${pid}/children`, "utf8").catch(() => ""));
  const children = await Promise.all(pids.map(readProcess));
  return children.filter((child) => child !== null);
}
