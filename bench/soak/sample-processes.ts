import { readdir, readFile } from "node:fs/promises";
import { readLiveBytes } from "./live-heap.ts";

/** Role of a process, by its command line. */
const ROLES = [
  ["host", /src\/local\/main\.ts/],
  ["edge", /workerd serve/],
  ["runner", /gpu-runner\/main\.ts/],
  ["cpu device", /device-process\.ts --role cpu/],
  ["gpu device", /device-process\.ts --role gpu/],
] as const;
export type Role = (typeof ROLES)[number][0] | "others";

/** Sums over the processes of one role at one moment. */
export interface ProcessSample {
  readonly processes: number;
  readonly residentBytes: number;
  readonly descriptors: number;
}

const PAGE_BYTES = 4_096;

/** Samples a process and all its descendants. Linux only (proc(5)); one that ends meanwhile is left out. */
export async function sampleProcesses(rootPid: number): Promise<Map<Role, ProcessSample>> {
  const samples = new Map<Role, ProcessSample>();
  for (const pid of await listTree(rootPid)) {
    const found = await sampleProcess(pid).catch(() => null);
    if (found === null) continue;
    const { processes, residentBytes, descriptors } = samples.get(found.role) ?? NONE;
    samples.set(found.role, {
      processes: processes + 1,
      residentBytes: residentBytes + found.residentBytes,
      descriptors: descriptors + found.descriptors,
    });
  }
  return samples;
}

const NONE: ProcessSample = { processes: 0, residentBytes: 0, descriptors: 0 };

/** Bytes in use after a collection of all garbage, of each role's Node process; null where one does not answer. */
export async function sampleLiveBytes(rootPid: number): Promise<Map<Role, number | null>> {
  const samples = new Map<Role, number | null>();
  for (const pid of await listTree(rootPid)) {
    const role = await roleOf(pid).catch(() => "others" as const);
    if (role !== "others" && role !== "edge") samples.set(role, await readLiveBytes(pid).catch(() => null));
  }
  return samples;
}

async function roleOf(pid: number): Promise<Role> {
  const words = (await readFile(`/proc/${pid}/cmdline`, "utf8")).replaceAll("\0", " ");
  return ROLES.find(([, pattern]) => pattern.test(words))?.[0] ?? "others";
}

async function sampleProcess(pid: number) {
  const [role, memory, descriptors] = await Promise.all([
    roleOf(pid),
    readFile(`/proc/${pid}/statm`, "utf8"),
    readdir(`/proc/${pid}/fd`),
  ]);
  return { role, residentBytes: Number(memory.split(" ")[1]) * PAGE_BYTES, descriptors: descriptors.length };
}

async function listTree(pid: number): Promise<number[]> {
  const threads = await readdir(`/proc/${pid}/task`).catch(() => []);
  const listed = await Promise.all(
    threads.map((thread) => readFile(`/proc/${pid}/task/${thread}/children`, "utf8").catch(() => "")),
  );
  const children = listed.flatMap((text) => text.trim().split(/\s+/).filter(Boolean).map(Number));
  return [pid, ...(await Promise.all(children.map(listTree))).flat()];
}
