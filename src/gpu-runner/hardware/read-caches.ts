import type { CpuCache } from "../../protocol/hardware.ts";
import { listEntries, readNumber, readText } from "./system-files.ts";

const UNITS: Readonly<Record<string, number>> = { K: 2 ** 10, M: 2 ** 20, G: 2 ** 30 };
const KINDS: Readonly<Record<string, CpuCache["kind"]>> = {
  Data: "data",
  Instruction: "instruction",
  Unified: "unified",
};

/** The first core's caches. Linux kernel documentation: ABI/testing/sysfs-devices-system-cpu (`cache/index*`). */
export async function readCaches(root: string): Promise<CpuCache[]> {
  const folders = await listEntries(/^index\d+$/, root, "sys/devices/system/cpu/cpu0/cache");
  const caches = await Promise.all(
    folders.map(async (folder): Promise<CpuCache | null> => {
      const level = await readNumber(folder, "level");
      const kind = KINDS[(await readText(folder, "type")) ?? ""];
      const sizeBytes = parseSize((await readText(folder, "size")) ?? "");
      const sharedBy = countCpus((await readText(folder, "shared_cpu_list")) ?? "0");
      return level === null || kind === undefined || sizeBytes === null ? null : { level, kind, sizeBytes, sharedBy };
    }),
  );
  return caches.filter((cache) => cache !== null);
}

function parseSize(text: string): number | null {
  const [, digits, unit = ""] = /^(\d+)([KMG]?)$/.exec(text) ?? [];
  return digits === undefined ? null : Number(digits) * (UNITS[unit] ?? 1);
}

/** How many a list such as `0-3,8` names. */
export function countCpus(list: string): number {
  const spans = list.split(",").map((span) => span.split("-").map(Number));
  return spans.reduce((count, [first = 0, last = first]) => count + last - first + 1, 0);
}
