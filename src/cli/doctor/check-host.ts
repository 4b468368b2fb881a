import { mkdtemp, readFile, rm, stat, statfs, writeFile } from "node:fs/promises";
import { cpus } from "node:os";
import { dirname, join } from "node:path";
import {
  judgeDescriptors,
  judgeMemory,
  judgeProcessMemory,
  nameFolderFault,
  readLimits,
  readMemory,
  RUNNER_BYTES,
} from "../../checkup/judge-host.ts";
import { BYTES, FOLDER_SETTING, parseBytes } from "../../checkup/runner-settings.ts";
import { fail, judge, ok, type Patient, skip, type Verdict, warn } from "./finding.ts";

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
  let draft: string | null = null;
  try {
    draft = await mkdtemp(join(place, ".millrace-doctor-"));
    await writeFile(join(draft, "page"), new Uint8Array(PAGE_BYTES));
  } catch (error) {
    return judge(nameFolderFault(error, folder, FOLDER_SETTING), "");
  } finally {
    if (draft !== null) await rm(draft, { recursive: true, force: true });
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
const WANTED_FILES = 4_096;

/** Limit of a process on open files and sockets. Linux only. */
export async function checkDescriptors({ installation }: Patient): Promise<Verdict> {
  const limits = await readLimits();
  if (limits === "") return skip("known on Linux alone");
  const fault = judgeDescriptors(limits, installation.kind === "checkout" ? WANTED_FILES : undefined);
  return judge(fault, `${/^Max open files\s+(\S+)/m.exec(limits)?.[1] ?? "no limit on"} open files`);
}

/** Edge, runner and two processes of devices, as they settle under load; a runner alone. */
const WANTED_BYTES = { checkout: 2_048 * MiB, runner: RUNNER_BYTES };

/** Available memory, according to the operating system or the container, and the limit of a device's process. */
export async function checkMemory({ installation, environment }: Patient): Promise<Verdict> {
  const { freeBytes, totalBytes } = readMemory();
  const limit = environment["MILLRACE_PROCESS_MEMORY"] ?? "";
  const processBytes = BYTES.test(limit) ? parseBytes(limit) : totalBytes / 2;
  return judge(
    judgeProcessMemory(processBytes) ?? judgeMemory(freeBytes, totalBytes, WANTED_BYTES[installation.kind]),
    `${Math.floor(freeBytes / MiB).toLocaleString("en")} of ${Math.floor(totalBytes / MiB).toLocaleString("en")} MiB free`,
  );
}
