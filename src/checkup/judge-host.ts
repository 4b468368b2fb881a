import { readFile } from "node:fs/promises";
import { totalmem, userInfo } from "node:os";
import type { Fault } from "./fault.ts";

const FULL = new Set(["ENOSPC", "EDQUOT", "EFBIG"]);

/** Names the reason why a folder of ours, or a file in it, cannot be used. `setting` is what names another folder. */
export function nameFolderFault(error: unknown, folder: string, setting: string): Fault {
  const { code = "", message, path = folder } = error as NodeJS.ErrnoException;
  if (FULL.has(code)) {
    return {
      cause: "disk-full",
      found: `${folder} takes no more: the disk, its quota or the file-size limit is exhausted (${code})`,
      advice: `Make room (\`df -h ${folder}\`), or name another folder by ${setting}.`,
    };
  }
  if (code === "EROFS") {
    return {
      cause: "read-only",
      found: `${folder} cannot be written: its file system is read-only (${code})`,
      advice: `Mount it for writing, or name another folder by ${setting}.`,
    };
  }
  if (code === "EACCES" || code === "EPERM") {
    return {
      cause: "not-yours",
      found: `${path} may not be read and written by the user ${describeUser()} (${code})`,
      advice: `Start it as the folder's owner, give it to this user (\`chown\`), or name another folder by ${setting}.`,
    };
  }
  return {
    cause: "folder",
    found: `${folder} cannot be written: ${message}`,
    advice: `Give it to this user, or name another folder by ${setting}.`,
  };
}

export const REGISTER = "register this runner anew, with a new token (--edge <address> --token <token>)";

/** The file exists and is none of ours, or no longer whole. */
export function nameDamagedCredential(path: string): Fault {
  return {
    cause: "credential-damaged",
    found: `${path} is damaged`,
    advice: `Delete it, and ${REGISTER}.`,
  };
}

export function nameUnknownCredential(edgeUrl: string, runnerId: string): Fault {
  return {
    cause: "credential",
    found: `${edgeUrl} does not know the credential of ${runnerId}`,
    advice: `It was removed or renewed there: ${REGISTER}.`,
  };
}

/** A user of a container may have no name. */
function describeUser(): string {
  try {
    return userInfo().username;
  } catch {
    return String(process.getuid?.() ?? "unknown");
  }
}

/** Names the reason why a server of ours cannot listen; `holder` is the process that has the port, if known. */
export function namePortFault(
  error: unknown,
  { host, port }: { readonly host: string; readonly port: number },
  setting: string,
  holder: string | null,
): Fault {
  const { code = "", message } = error as NodeJS.ErrnoException;
  const address = `${host}:${port}`;
  const choose = `choose another port by ${setting}`;
  if (code === "EADDRINUSE") {
    const found = `${address} (${setting}) is taken by ${holder ?? "another process"}`;
    return { cause: "port-taken", found, advice: `Stop it, or ${choose}.` };
  }
  if (code === "EACCES") {
    const found = `${address} (${setting}) may not be used by the user ${describeUser()}`;
    return { cause: "port-denied", found, advice: `Choose a port above 1023 by ${setting}.` };
  }
  const found = `${address} (${setting}) cannot be listened on: ${message}`;
  return { cause: "port", found, advice: `Name an address of this machine, or ${choose}.` };
}

/** A runner's files at its start, and a socket for each client. */
const NEEDED_FILES = 256;

/** Fault of a limit on open files, from the text of `/proc/self/limits`; null where it suffices or is not told. */
export function judgeDescriptors(limits: string, neededFiles = NEEDED_FILES): Fault | null {
  const [, text = ""] = /^Max open files\s+(\S+)/m.exec(limits) ?? [];
  const limit = text === "unlimited" ? Number.POSITIVE_INFINITY : Number(text);
  if (text === "" || Number.isNaN(limit) || limit >= neededFiles) return null;
  return {
    cause: "open-files",
    found: `This process may open ${text} files and sockets`,
    advice: "Raise it: `ulimit -n 65536`, LimitNOFILE= of a systemd unit, or --ulimit nofile= of a container.",
    ...(limit >= NEEDED_FILES && { isMild: true }),
  };
}

/** Limits of this process as the system tells them; empty where it does not. */
export function readLimits(): Promise<string> {
  return readFile("/proc/self/limits", "utf8").catch(() => "");
}

const MiB = 2 ** 20;

/** Memory of the machine, or of its container where that is less. */
export function readMemory(): { readonly freeBytes: number; readonly totalBytes: number } {
  const limit = process.constrainedMemory();
  return { freeBytes: process.availableMemory(), totalBytes: limit > 0 ? Math.min(limit, totalmem()) : totalmem() };
}

/** A runner and the processes of a CPU and a GPU, as they settle. */
export const RUNNER_BYTES = 512 * MiB;

/** Fault of a machine with less free memory than is wanted; null where it suffices. */
export function judgeMemory(freeBytes: number, totalBytes: number, wantedBytes: number): Fault | null {
  if (freeBytes >= wantedBytes) return null;
  const inMiB = (bytes: number) => Math.floor(bytes / MiB).toLocaleString("en");
  return {
    cause: "memory",
    found: `${inMiB(freeBytes)} of ${inMiB(totalBytes)} MiB memory are free, and ${inMiB(wantedBytes)} are wanted`,
    advice: "End something else, or raise the limit of the container (--memory=, MemoryMax=).",
    isMild: true,
  };
}

/** Size of the CPU's process after its start. */
const DEVICE_PROCESS_BYTES = 96 * MiB;

const PROCESS_ADVICE = "Raise MILLRACE_PROCESS_MEMORY, or the container's memory, of which it is half by default.";

/** Fault of a limit under which no process of a device starts; null where it suffices. */
export function judgeProcessMemory(limitBytes: number): Fault | null {
  if (limitBytes >= DEVICE_PROCESS_BYTES) return null;
  return {
    cause: "process-memory",
    found: `A device's process may have ${Math.floor(limitBytes / MiB)} MiB of memory and takes ${DEVICE_PROCESS_BYTES / MiB} to start`,
    advice: PROCESS_ADVICE,
  };
}

/** Names why a device's process does not start, or does not stay; `isMemory`: it was ended for its size. */
export function nameProcessFault(deviceKey: string, reason: string, isMemory: boolean): Fault {
  const found = `The process of ${deviceKey} does not start: ${reason}`;
  if (isMemory) return { cause: "process-memory", found, advice: PROCESS_ADVICE };
  const advice =
    deviceKey === "cpu"
      ? "Install the runner anew: its programs may be of another system."
      : "The driver or its package crashes: install it anew, or go on without it by MILLRACE_GPU=none or software.";
  return { cause: "device-process", found, advice };
}

const DRIVER = "For a real GPU install its vendor's driver with the Vulkan part";

/**
 * Names why no real GPU computes. `trouble`: how the machine's own drivers failed, if not by offering none; `software`:
 * the software GPU in its stead; else `reason` says why there is none.
 */
export function nameGpuFault(trouble: string | null, software: string | null, reason = "nothing opens"): Fault {
  const stead = software === null ? "no software GPU either" : `in its stead the software GPU ${software}`;
  if (trouble !== null) {
    const found = `The GPU's driver fails: ${trouble}; ${stead}`;
    return { cause: "gpu-driver", found, advice: `Install the driver anew. ${DRIVER}.` };
  }
  if (software !== null) {
    const advice = `It computes rightly but slowly. ${DRIVER}.`;
    return { cause: "gpu-software", found: `There is no real GPU; ${stead}`, advice, isMild: true };
  }
  const found = `There is no GPU, and ${stead}: ${reason}`;
  return { cause: "gpu-none", found, advice: `Models run on the CPU alone. ${DRIVER}.` };
}
