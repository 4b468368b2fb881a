import { readFile } from "node:fs/promises";

/**
 * Clock ticks per second in `/proc/<pid>/stat`, the same on every architecture that Node runs on.
 * Source: USER_HZ, proc_pid_stat(5).
 */
const TICKS_PER_SECOND = 100;
const TICK_MS = 1_000 / TICKS_PER_SECOND;

/** CPU times of a process in milliseconds: its own, and those of children that have ended. */
interface ProcessTimes {
  readonly cpuMs: number;
  readonly endedChildrenMs: number;
}

/**
 * Times in the text of `/proc/<pid>/stat`; null where it is not of that form.
 * Source: proc_pid_stat(5).
 */
export function parseProcessTimes(text: string): ProcessTimes | null {
  // The second field is the program's name in brackets, which may hold spaces and brackets itself.
  const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
  // Fields 14 to 17: utime, stime, cutime and cstime; the remainder begins with the third.
  const [user = Number.NaN, system = Number.NaN, endedUser = Number.NaN, endedSystem = Number.NaN] = fields
    .slice(11, 15)
    .map(Number);
  const cpuMs = (user + system) * TICK_MS;
  const endedChildrenMs = (endedUser + endedSystem) * TICK_MS;
  return Number.isFinite(cpuMs + endedChildrenMs) ? { cpuMs, endedChildrenMs } : null;
}

/**
 * Resident bytes, current or peak, from the text of `/proc/<pid>/status`; null for a process that has ended, and where
 * the system does not report them.
 * Source: proc_pid_status(5).
 */
export function parseStatusBytes(text: string, field: "VmRSS" | "VmHWM"): number | null {
  const kibibytes = new RegExp(`^${field}:\\s+(\\d+) kB$`, "m").exec(text)?.[1];
  return kibibytes === undefined ? null : Number(kibibytes) * 1_024;
}

/** Process ids in the text of `/proc/<pid>/task/<tid>/children`. */
export function parsePids(text: string): number[] {
  return text.trim().split(/\s+/).filter(Boolean).map(Number);
}

const INTERVAL_MS = 100;

/**
 * Polls a process's memory until it is stopped, and reports once when it exceeds `limitBytes`. Between two polls a
 * process may grow by some hundred MiB. Has no effect without a limit or without figures from the system.
 */
export function watchMemory(
  pid: number | null,
  limitBytes: number | undefined,
  onExceed: (bytes: number) => void,
): () => void {
  if (pid === null || limitBytes === undefined) return () => {};
  let isLooking = false;
  const look = async () => {
    if (isLooking) return;
    isLooking = true;
    const bytes = parseStatusBytes(await readFile(`/proc/${pid}/status`, "utf8").catch(() => ""), "VmRSS") ?? 0;
    isLooking = false;
    if (bytes <= limitBytes || stopped) return;
    stop();
    onExceed(bytes);
  };
  let stopped = false;
  const timer = setInterval(() => void look(), INTERVAL_MS);
  timer.unref();
  const stop = () => {
    stopped = true;
    clearInterval(timer);
  };
  return stop;
}

/** Use of a process in a span; null where the system does not report it, or after its end. */
export interface ProcessUse {
  readonly cpuMs: number | null;
  readonly rssBytes: number | null;
}

/** Uses of the runner's processes in a span. */
export interface ProcessUses {
  /** This process, and its children, including ended ones. */
  readonly own: ProcessUse;
  readonly byPid: ReadonlyMap<number, ProcessUse>;
}

const NOTHING: ProcessUse = { cpuMs: null, rssBytes: null };

/** CPU and memory of this process and its children, from `/proc`; empty on systems other than Linux. */
export class ProcessMeter {
  /** CPU time so far, by process, and in total. */
  #lastMs = new Map<number, number>();
  #lastOwnMs: number | null = null;

  /**
   * Uses since the last reading. A new process is counted from its start, all others together from the first reading.
   */
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
    // A process that ended between the readings may be in neither sum: time must not decrease.
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
