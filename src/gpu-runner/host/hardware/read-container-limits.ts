import path from "node:path";
import { readNumber, readText } from "../files.ts";

export interface ContainerLimits {
  /** Share of the machine's cores, possibly fractional; null: all. */
  readonly cores: number | null;
  readonly memoryBytes: number | null;
}

const GROUPS = "sys/fs/cgroup";
/** The first version writes the largest page-aligned number for no limit. */
const NO_LIMIT_BYTES = 2 ** 60;

/**
 * Container limits of this process: the tightest of its control group and its ancestors, in either version.
 * Source: Linux kernel documentation, admin-guide/cgroup-v2 (`cpu.max`, `memory.max`), admin-guide/cgroup-v1/memory
 * (`memory.limit_in_bytes`), scheduler/sched-bwc (`cpu.cfs_quota_us`).
 */
export async function readContainerLimits(root: string): Promise<ContainerLimits> {
  const groups = parseGroups((await readText(root, "proc/self/cgroup")) ?? "");
  const cores: (number | null)[] = [];
  const memory: (number | null)[] = [];
  for (const folder of ancestorsOf(groups.unified)) {
    cores.push(parseCpuMax((await readText(root, GROUPS, folder, "cpu.max")) ?? ""));
    memory.push(await readNumber(root, GROUPS, folder, "memory.max"));
  }
  for (const folder of ancestorsOf(groups.cpu)) {
    const [quotaUs, periodUs] = await Promise.all(
      ["cpu.cfs_quota_us", "cpu.cfs_period_us"].map((file) => readNumber(root, GROUPS, "cpu", folder, file)),
    );
    cores.push(toCores(quotaUs ?? null, periodUs ?? null));
  }
  for (const folder of ancestorsOf(groups.memory)) {
    const bytes = await readNumber(root, GROUPS, "memory", folder, "memory.limit_in_bytes");
    memory.push(bytes !== null && bytes < NO_LIMIT_BYTES ? bytes : null);
  }
  return { cores: least(cores), memoryBytes: least(memory) };
}

/** Groups of a process by controller, from `/proc/self/cgroup`; an unlisted controller is at the root. */
function parseGroups(text: string) {
  const lines = text.split("\n").map((line) => /^\d+:([^:]*):(.*)$/.exec(line));
  const of = (isIt: (controllers: string[]) => boolean) =>
    lines.find((line) => line !== null && isIt((line[1] ?? "").split(",")))?.[2] ?? "/";
  return {
    unified: of(([first]) => first === ""),
    cpu: of((controllers) => controllers.includes("cpu")),
    memory: of((controllers) => controllers.includes("memory")),
  };
}

/** Ancestors from the root down. In a container the path may be that of the host: absent ones are skipped. */
function ancestorsOf(group: string): string[] {
  const parts = path.posix
    .normalize(group)
    .split("/")
    .filter((part) => part !== "" && part !== "..");
  return ["", ...parts.map((_, index) => parts.slice(0, index + 1).join("/"))];
}

/** Quota and period in microseconds, such as `150000 100000`; null for `max 100000`. */
export function parseCpuMax(text: string): number | null {
  const [quotaUs, periodUs] = text.split(/\s+/).map(Number);
  return toCores(quotaUs ?? null, periodUs ?? null);
}

function toCores(quotaUs: number | null, periodUs: number | null): number | null {
  if (quotaUs === null || periodUs === null) return null;
  return quotaUs > 0 && periodUs > 0 ? quotaUs / periodUs : null;
}

function least(values: readonly (number | null)[]): number | null {
  const known = values.filter((value) => value !== null);
  return known.length === 0 ? null : Math.min(...known);
}
