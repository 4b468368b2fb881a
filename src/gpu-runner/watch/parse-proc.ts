/**
 * Clock ticks of a second in `/proc/<pid>/stat`: what the kernel shows to programs (USER_HZ, proc_pid_stat(5)), the
 * same on every architecture that Node runs on.
 */
const TICKS_PER_SECOND = 100;
const TICK_MS = 1_000 / TICKS_PER_SECOND;

/** Times of a process on the CPU, in milliseconds: its own, and those of children that have ended. */
export interface ProcessTimes {
  readonly cpuMs: number;
  readonly endedChildrenMs: number;
}

/** The text of `/proc/<pid>/stat` (proc_pid_stat(5)); null where it is not of that form. */
export function parseProcessTimes(text: string): ProcessTimes | null {
  // The second field is the program's name in brackets, which may hold spaces and brackets itself.
  const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
  // Fields 14 to 17: utime, stime, cutime and cstime; what is left begins with the third.
  const [user = Number.NaN, system = Number.NaN, endedUser = Number.NaN, endedSystem = Number.NaN] = fields
    .slice(11, 15)
    .map(Number);
  const cpuMs = (user + system) * TICK_MS;
  const endedChildrenMs = (endedUser + endedSystem) * TICK_MS;
  return Number.isFinite(cpuMs + endedChildrenMs) ? { cpuMs, endedChildrenMs } : null;
}

/**
 * Bytes in memory, now or at most so far, by the text of `/proc/<pid>/status` (proc_pid_status(5)); null for a process
 * that has ended, and where the system does not tell.
 */
export function parseStatusBytes(text: string, field: "VmRSS" | "VmHWM"): number | null {
  const kibibytes = new RegExp(`^${field}:\\s+(\\d+) kB$`, "m").exec(text)?.[1];
  return kibibytes === undefined ? null : Number(kibibytes) * 1_024;
}

/** The text of `/proc/<pid>/task/<tid>/children`. */
export function parsePids(text: string): number[] {
  return text.trim().split(/\s+/).filter(Boolean).map(Number);
}
