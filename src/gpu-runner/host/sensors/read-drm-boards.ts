import { realpath } from "node:fs/promises";
import path from "node:path";
import { type GpuBoard, toPciAddress } from "./gpu-board.ts";
import { listEntries, readNumber, readText } from "../files.ts";

type Reading = Pick<
  GpuBoard,
  | "memoryBytes"
  | "powerLimitW"
  | "maxClockMhz"
  | "maxMemoryClockMhz"
  | "clockMhz"
  | "temperatureC"
  | "limitC"
  | "utilisation"
  | "throttled"
>;

const VENDORS = new Map([
  ["0x1002", "amd"],
  ["0x8086", "intel"],
] as const);

/**
 * AMD's and Intel's cards from the files of their drivers under `/sys/class/drm`, in the order of their numbers.
 * Source: Linux kernel documentation, gpu/amdgpu/thermal (`pp_dpm_sclk`, `gpu_busy_percent`, hwmon), gpu/i915 and
 * gpu/xe (frequencies and reasons of throttling in sysfs).
 */
export async function readDrmBoards(root: string): Promise<GpuBoard[]> {
  const cards = await listEntries(/^card\d+$/, root, "sys/class/drm");
  const boards = await Promise.all(cards.map(readCard));
  return boards.filter((board) => board !== null);
}

async function readCard(card: string): Promise<GpuBoard | null> {
  const id = await readText(card, "device/vendor");
  const vendor = VENDORS.get(id as "0x1002");
  if (vendor === undefined) return null;
  const reading = vendor === "amd" ? await readAmd(card) : await readIntel(card);
  const name = await readText(card, "device/product_name");
  // The folder is a link to that of the card on its bus.
  const pciAddress = toPciAddress(path.basename(await realpath(path.join(card, "device")).catch(() => "")));
  return { source: "sysfs", vendor, name, uuid: null, pciAddress, ...reading };
}

async function readAmd(card: string): Promise<Reading> {
  const device = path.join(card, "device");
  const [busyPercent, coreClocks, memoryClocks, memoryBytes, sensors] = await Promise.all([
    readNumber(device, "gpu_busy_percent"),
    readText(device, "pp_dpm_sclk"),
    readText(device, "pp_dpm_mclk"),
    readNumber(device, "mem_info_vram_total"),
    readSensorChip(device),
  ]);
  const core = parseClockTable(coreClocks ?? "");
  return {
    memoryBytes,
    maxClockMhz: core.maxMhz,
    maxMemoryClockMhz: parseClockTable(memoryClocks ?? "").maxMhz,
    clockMhz: sensors.clockMhz ?? core.currentMhz,
    temperatureC: sensors.temperatureC,
    limitC: sensors.limitC,
    powerLimitW: sensors.powerLimitW,
    utilisation: busyPercent === null ? null : busyPercent / 100,
    throttled: null,
  };
}

/** The older driver has its files beside the card, the newer one by tile. */
async function readIntel(card: string): Promise<Reading> {
  const xe = path.join(card, "device/tile0/gt0/freq0");
  const [oldClock, newClock, oldMax, newMax, oldReasons, newReasons, sensors] = await Promise.all([
    readNumber(card, "gt_act_freq_mhz"),
    readNumber(xe, "act_freq"),
    readNumber(card, "gt_RP0_freq_mhz"),
    readNumber(xe, "rp0_freq"),
    readReasons(/^throttle_reason_(?!status)/, card, "gt/gt0"),
    readReasons(/^reason_/, xe, "throttle"),
    readSensorChip(path.join(card, "device")),
  ]);
  const reasons = [...oldReasons, ...newReasons];
  return {
    memoryBytes: null,
    maxClockMhz: oldMax ?? newMax,
    maxMemoryClockMhz: null,
    // 0 while it sleeps.
    clockMhz: (oldClock ?? newClock) || null,
    temperatureC: sensors.temperatureC,
    limitC: sensors.limitC,
    powerLimitW: sensors.powerLimitW,
    utilisation: null,
    throttled: reasons.length === 0 ? null : reasons.join(", "),
  };
}

/** Names of the files that hold a 1, without their common prefix. */
async function readReasons(pattern: RegExp, ...folder: readonly string[]): Promise<string[]> {
  const files = await listEntries(pattern, ...folder);
  const values = await Promise.all(files.map((file) => readNumber(file)));
  return files.filter((_, index) => values[index] === 1).map((file) => path.basename(file).replace(/^.*reason_/, ""));
}

/** Values of the card's first sensor chip; raw values are milli-degrees, hertz and microwatts. */
async function readSensorChip(device: string) {
  const [chip = "/nowhere"] = await listEntries(/^hwmon\d+$/, device, "hwmon");
  const [milliC, criticalMilliC, hertz, microW] = await Promise.all(
    ["temp1_input", "temp1_crit", "freq1_input", "power1_cap"].map((name) => readNumber(chip, name)),
  );
  const scale = (value: number | null | undefined, by: number) => (value == null ? null : value / by);
  return {
    temperatureC: scale(milliC, 1e3),
    limitC: scale(criticalMilliC, 1e3),
    clockMhz: scale(hertz, 1e6),
    powerLimitW: scale(microW, 1e6),
  };
}

/** Steps of a clock, one per line such as `1: 2100Mhz *`; the star marks the current one. */
export function parseClockTable(text: string): { currentMhz: number | null; maxMhz: number | null } {
  const steps = [...text.matchAll(/^\s*\w+:\s*(\d+)\s*mhz\s*(\*?)/gim)].map(([, mhz, star]) => ({
    mhz: Number(mhz),
    isCurrent: star === "*",
  }));
  return {
    currentMhz: steps.find(({ isCurrent }) => isCurrent)?.mhz ?? null,
    maxMhz: steps.length === 0 ? null : Math.max(...steps.map(({ mhz }) => mhz)),
  };
}
