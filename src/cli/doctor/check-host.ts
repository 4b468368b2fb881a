import { mkdtemp, readFile, rm, stat, statfs, writeFile } from "node:fs/promises";
import { cpus, totalmem } from "node:os";
import { dirname, join } from "node:path";
import { fail, ok, skip, type Verdict, warn } from "./finding.ts";

const FLAGS = "/proc/cpuinfo";
const GOVERNOR = "/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor";

/** Whether the CPU has the instructions for ONNX Runtime's kernels, and a fixed clock. Linux only. */
export async function checkCpu(): Promise<Verdict> {
  const told = await readFile(FLAGS, "utf8").catch(() => null);
  if (told === null) return skip("known on Linux alone");
  const governor = await readFile(GOVERNOR, "utf8").catch(() => null);
  return judgeCpu(`${cpus().length} × ${cpus()[0]?.model.trim() ?? "unknown"}`, told, governor?.trim() ?? null);
}

/** Judges `/proc/cpuinfo` and the first core's governor; null if the system, like most VMs, reports none. */
export function judgeCpu(name: string, cpuInfo: string, governor: string | null): Verdict {
  const [, listed = ""] = /^(?:flags|Features)\s*:\s*(.*)$/m.exec(cpuInfo) ?? [];
  const flags = new Set(listed.split(/\s+/));
  const isFast = flags.has("avx2") || flags.has("asimd");
  const found = `${name}, ${isFast ? (flags.has("avx2") ? "AVX2" : "NEON") : "no AVX2 and no NEON"}, governor ${governor ?? "not told"}`;
  if (!isFast) return warn(found, "Models run several times slower on this CPU; in a VM, pass the host's CPU through.");
  if (governor !== null && governor !== "performance") {
    return warn(found, "Measurements scatter while the clock moves: `cpupower frequency-set -g performance`.");
  }
  return ok(found);
}

const MiB = 2 ** 20;
/** An edge's state, the software GPU and a few models. */
const NEEDED_BYTES = 256 * MiB;
/** A runner keeps up to 8 GiB of artifacts. */
const WANTED_DISK_BYTES = 2_048 * MiB;
const PAGE_BYTES = 4_096;

/** Whether a folder of millrace, existing or not, is writable and has room. */
export async function checkDataFolder(folder: string): Promise<Verdict> {
  const place = await findPlace(folder);
  const draft = await mkdtemp(join(place, ".millrace-doctor-")).catch((error: Error) => error);
  if (draft instanceof Error) {
    return fail(`${folder} cannot be written: ${draft.message}`, "Give it to this user, or name another folder.");
  }
  try {
    await writeFile(join(draft, "page"), new Uint8Array(PAGE_BYTES));
  } catch (error) {
    return fail(`${folder} takes no file: ${(error as Error).message}`, "Make room, or name another folder.");
  } finally {
    await rm(draft, { recursive: true, force: true });
  }
  const { bavail, bsize } = await statfs(place);
  return judgeRoom(folder, bavail * bsize);
}

export function judgeRoom(folder: string, freeBytes: number): Verdict {
  const found = `${folder}: ${Math.floor(freeBytes / MiB).toLocaleString("en")} MiB free`;
  if (freeBytes < NEEDED_BYTES) return fail(found, `Make room: at least ${NEEDED_BYTES / MiB} MiB are needed.`);
  if (freeBytes < WANTED_DISK_BYTES)
    return warn(found, "Make room, or lower MILLRACE_DISK_SPACE: artifacts take up to 8 GiB.");
  return ok(found);
}

/** The folder, or its nearest existing parent. A path that is no folder fails on writing. */
async function findPlace(folder: string): Promise<string> {
  const isThere = await stat(folder).then(
    () => true,
    (error: NodeJS.ErrnoException) => error.code !== "ENOENT",
  );
  return isThere || dirname(folder) === folder ? folder : findPlace(dirname(folder));
}

/** The edge holds a socket for each caller and a few files for each object. */
const NEEDED = 256;
const WANTED = 4_096;
const DESCRIPTOR_ADVICE =
  "Raise it: `ulimit -n 65536`, LimitNOFILE= of a systemd unit, or --ulimit nofile= of a container.";

/** Limit of a process on open files and sockets. Linux only. */
export async function checkDescriptors(): Promise<Verdict> {
  const limits = await readFile("/proc/self/limits", "utf8").catch(() => null);
  return limits === null ? skip("known on Linux alone") : judgeDescriptors(limits);
}

/** Judges the text of `/proc/self/limits`. */
export function judgeDescriptors(limits: string): Verdict {
  const [, text = ""] = /^Max open files\s+(\S+)/m.exec(limits) ?? [];
  const limit = text === "unlimited" ? Number.POSITIVE_INFINITY : Number(text);
  if (text === "" || Number.isNaN(limit)) return skip("the system tells no limit");
  if (limit < NEEDED) return fail(`${text} open files`, DESCRIPTOR_ADVICE);
  return limit < WANTED ? warn(`${text} open files`, DESCRIPTOR_ADVICE) : ok(`${text} open files`);
}

const GiB = 2 ** 30;
/** Edge, runner and two processes of devices, as they settle under load. */
const WANTED_MEMORY_BYTES = 2 * GiB;

/** Available memory, according to the operating system or the container. */
export async function checkMemory(): Promise<Verdict> {
  const limit = process.constrainedMemory();
  const total = limit > 0 ? Math.min(limit, totalmem()) : totalmem();
  return judgeMemory(process.availableMemory(), total);
}

export function judgeMemory(freeBytes: number, totalBytes: number): Verdict {
  const found = `${(freeBytes / GiB).toFixed(1)} of ${(totalBytes / GiB).toFixed(1)} GiB free`;
  if (freeBytes >= WANTED_MEMORY_BYTES) return ok(found);
  return warn(found, "Edge and runner take about 2 GiB: end something else, or run them on different machines.");
}
