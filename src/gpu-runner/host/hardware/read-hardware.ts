import { arch, availableParallelism, hostname, totalmem } from "node:os";
import { cpu, cpuFlags, osInfo, system } from "systeminformation";
import type { CpuCache, Hardware } from "../../../protocol/fleet/hardware.ts";
import { listEntries, readNumber, readText } from "../files.ts";
import { nameInstructionSets } from "./device-names.ts";
import { readContainerLimits } from "./read-container-limits.ts";

const UNITS: Readonly<Record<string, number>> = { K: 2 ** 10, M: 2 ** 20, G: 2 ** 30 };
const KINDS: Readonly<Record<string, CpuCache["kind"]>> = {
  Data: "data",
  Instruction: "instruction",
  Unified: "unified",
};

/**
 * Caches of the first core.
 * Source: Linux kernel documentation, ABI/testing/sysfs-devices-system-cpu (`cache/index*`).
 */
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

/** Number of CPUs in a list such as `0-3,8`. */
export function countCpus(list: string): number {
  const spans = list.split(",").map((span) => span.split("-").map(Number));
  return spans.reduce((count, [first = 0, last = first]) => count + last - first + 1, 0);
}

type Clocks = Required<Pick<Hardware["cpu"], "baseClockMhz" | "maxClockMhz">>;

/**
 * Clocks of the fastest core, where the frequency driver reports them.
 * Source: Linux kernel documentation, admin-guide/pm/cpufreq and intel_pstate.
 */
export async function readClocks(root: string): Promise<Clocks> {
  const policies = await listEntries(/^policy\d+$/, root, "sys/devices/system/cpu/cpufreq");
  const fastestMhz = async (file: string) => {
    const values = await Promise.all(policies.map((policy) => readNumber(policy, file)));
    const khz = Math.max(0, ...values.map((value) => value ?? 0));
    return khz === 0 ? null : khz / 1e3;
  };
  return { baseClockMhz: await fastestMhz("base_frequency"), maxClockMhz: await fastestMhz("cpuinfo_max_freq") };
}

/** CPU flags that matter to kernels; others would only make the hello longer. */
const TELLING_FLAGS =
  /^(avx|avx1\.0|avx2|avx512\w*|avx_\w+|amx_\w+|fma|f16c|sse4[._]1|sse4[._]2|neon|asimd\w*|sve\w*|bf16|i8mm)$/;

/** Parent folder of `/sys` and `/proc`. */
const ROOT = "/";

/** Hardware around the devices, as the operating system reports it. */
export async function readHardware(): Promise<Hardware> {
  const [processor, flags, os, machine, caches, clocks, container] = await Promise.all([
    cpu(),
    cpuFlags(),
    osInfo(),
    system(),
    readCaches(ROOT),
    readClocks(ROOT),
    readContainerLimits(ROOT),
  ]);
  const features = flags
    .split(/\s+/)
    .filter((flag) => TELLING_FLAGS.test(flag))
    .toSorted();
  return {
    hostname: hostname(),
    os: `${os.distro} ${os.release}`.trim(),
    arch: arch(),
    cpu: {
      model: `${processor.manufacturer} ${processor.brand}`.trim(),
      physicalCores: processor.physicalCores,
      logicalCores: availableParallelism(),
      speedGhz: processor.speed > 0 ? processor.speed : null,
      features,
      instructionSets: nameInstructionSets(features, arch()),
      caches,
      ...clocks,
    },
    memoryBytes: totalmem(),
    container,
    virtual: machine.virtual,
    node: process.version,
  };
}
