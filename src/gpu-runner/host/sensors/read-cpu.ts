import type { Sensor } from "../../../protocol/fleet/health.ts";
import { listEntries, readNumber, readText } from "../files.ts";

export interface CpuReading {
  readonly sensor: Omit<Sensor, "throttled">;
  /** Number of thermal throttlings of cores and packages since the start; null where they are not counted. */
  readonly throttleCount: number | null;
}

/** Sensor chips inside processors. */
const CPU_CHIPS: ReadonlySet<string> = new Set(["coretemp", "k10temp", "zenpower", "cpu_thermal", "soc_thermal"]);
const CPU_ZONES = /^(x86_pkg_temp|cpu[-_]?thermal.*|cpu\d*[-_]thermal|soc[-_]thermal.*|CPU.*)$/;

/**
 * Clock, temperature and throttling counters of the processor, as Linux reports them; all null on other systems.
 * Source: Linux kernel documentation, admin-guide/pm/cpufreq, hwmon/sysfs-interface, driver-api/thermal/sysfs-api, and
 * ABI/testing/sysfs-devices-system-cpu.
 */
export async function readCpu(root: string): Promise<CpuReading> {
  const [clock, chip, zone, throttleCount] = await Promise.all([
    readClock(root),
    readChips(root),
    readZones(root),
    readThrottleCount(root),
  ]);
  const { temperatureC, limitC } = chip ?? zone ?? { temperatureC: null, limitC: null };
  return { sensor: { of: "cpu", ...clock, temperatureC, limitC, utilisation: null }, throttleCount };
}

type Clock = Pick<Sensor, "clockMhz" | "maxClockMhz" | "source">;
type Heat = Pick<Sensor, "temperatureC" | "limitC">;

/** Clock of the fastest core: idle ones do not show the clock of busy ones. */
async function readClock(root: string): Promise<Clock> {
  const policies = await listEntries(/^policy\d+$/, root, "sys/devices/system/cpu/cpufreq");
  const [current, most] = await Promise.all(
    ["scaling_cur_freq", "cpuinfo_max_freq"].map((file) => Promise.all(policies.map((each) => readNumber(each, file)))),
  );
  const clockKhz = largest(current ?? []);
  if (clockKhz !== null) {
    const maxKhz = largest(most ?? []);
    return { clockMhz: clockKhz / 1e3, maxClockMhz: maxKhz === null ? null : maxKhz / 1e3, source: "sysfs" };
  }
  const clockMhz = parseCpuinfoMhz((await readText(root, "proc/cpuinfo")) ?? "");
  return { clockMhz, maxClockMhz: null, source: clockMhz === null ? "sysfs" : "proc" };
}

/**
 * `cpu MHz` of the fastest core in `/proc/cpuinfo`; null where absent, as on ARM. In a virtual machine the value is
 * constant.
 */
export function parseCpuinfoMhz(text: string): number | null {
  return largest([...text.matchAll(/^cpu MHz\s*:\s*([\d.]+)/gm)].map(([, mhz]) => Number(mhz)));
}

/**
 * Hottest sensor of the processor's chips. AMD's `Tctl` is for fans and may be offset; `Tdie` is the real value where
 * present.
 */
async function readChips(root: string): Promise<Heat | null> {
  const readings: { label: string; milliC: number; limitMilliC: number | null }[] = [];
  for (const chip of await listEntries(/^hwmon\d+$/, root, "sys/class/hwmon")) {
    if (!CPU_CHIPS.has((await readText(chip, "name")) ?? "")) continue;
    for (const input of await listEntries(/^temp\d+_input$/, chip)) {
      const milliC = await readNumber(input);
      const label = (await readText(input.replace(/input$/, "label"))) ?? "";
      const limitMilliC =
        (await readNumber(input.replace(/input$/, "crit"))) ?? (await readNumber(input.replace(/input$/, "max")));
      if (milliC !== null) readings.push({ label, milliC, limitMilliC });
    }
  }
  const isTold = readings.some(({ label }) => label === "Tdie");
  return hottest(readings.filter(({ label }) => !isTold || label !== "Tctl"));
}

async function readZones(root: string): Promise<Heat | null> {
  const zones = await listEntries(/^thermal_zone\d+$/, root, "sys/class/thermal");
  const readings = await Promise.all(
    zones.map(async (zone) => {
      const [type, milliC] = await Promise.all([readText(zone, "type"), readNumber(zone, "temp")]);
      if (!CPU_ZONES.test(type ?? "") || milliC === null) return null;
      return { milliC, limitMilliC: await readTripPoint(zone) };
    }),
  );
  return hottest(readings.filter((reading) => reading !== null));
}

/** Temperature at which the zone starts to throttle the processor, otherwise its critical one. */
async function readTripPoint(zone: string): Promise<number | null> {
  const files = await listEntries(/^trip_point_\d+_type$/, zone);
  const points = await Promise.all(
    files.map(async (file) => ({
      type: await readText(file),
      milliC: await readNumber(file.replace(/type$/, "temp")),
    })),
  );
  const of = (wanted: string) =>
    points.find(({ type, milliC }) => type === wanted && (milliC ?? 0) > 0)?.milliC ?? null;
  return of("passive") ?? of("hot") ?? of("critical");
}

async function readThrottleCount(root: string): Promise<number | null> {
  const cores = await listEntries(/^cpu\d+$/, root, "sys/devices/system/cpu");
  const counts = await Promise.all(
    cores.flatMap((core) =>
      ["core_throttle_count", "package_throttle_count"].map((file) => readNumber(core, "thermal_throttle", file)),
    ),
  );
  const known = counts.filter((count) => count !== null);
  return known.length === 0 ? null : known.reduce((sum, count) => sum + count, 0);
}

function hottest(readings: readonly { milliC: number; limitMilliC: number | null }[]): Heat | null {
  const reading = readings.toSorted((a, b) => b.milliC - a.milliC)[0];
  if (reading === undefined) return null;
  const { milliC, limitMilliC } = reading;
  return { temperatureC: milliC / 1e3, limitC: limitMilliC === null ? null : limitMilliC / 1e3 };
}

function largest(values: readonly (number | null)[]): number | null {
  const known = values.filter((value) => value !== null);
  return known.length === 0 ? null : Math.max(...known);
}
