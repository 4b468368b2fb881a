import type { Sensor } from "../../../protocol/fleet/health.ts";
import { type GpuBoard, type KnownGpu, matchBoards } from "./gpu-board.ts";
import { NvidiaSmi } from "./nvidia-smi.ts";
import { type CpuReading, readCpu } from "./read-cpu.ts";
import { readDrmBoards } from "./read-drm-boards.ts";

interface SensorSources {
  /** Parent folder of `/sys` and `/proc`. */
  readonly root: string;
  readonly nvidia: Pick<NvidiaSmi, "read">;
}

const MACHINE: SensorSources = { root: "/", nvidia: new NvidiaSmi() };

/** Clocks and temperatures of the CPU and of the GPUs among these devices; unreadable ones are left out. */
type ReadSensors = (devices: readonly KnownGpu[]) => Promise<Sensor[]>;

/** Sensor reader of this or another machine; it remembers the last counters. */
export function createSensorReader({ root, nvidia }: SensorSources): ReadSensors {
  let lastCount: number | null = null;
  return async (devices) => {
    const [cpu, boards] = await Promise.all([readCpu(root), readBoards(devices, { root, nvidia })]);
    const rise = cpu.throttleCount === null || lastCount === null ? 0 : cpu.throttleCount - lastCount;
    lastCount = cpu.throttleCount;
    return [...toCpuSensor(cpu, rise), ...[...boards].map(([key, board]) => toGpuSensor(key, board))];
  };
}

/** Sensors of this machine. Cheap enough for every few seconds. */
export const readSensors: ReadSensors = createSensorReader(MACHINE);

/** Cards of the GPUs among these devices, by key; no program runs where there is none. */
export async function readBoards(
  devices: readonly KnownGpu[],
  { root, nvidia }: SensorSources = MACHINE,
): Promise<ReadonlyMap<string, GpuBoard>> {
  if (!devices.some(({ kind, software }) => kind === "gpu" && !software)) return new Map();
  const [rows, cards] = await Promise.all([nvidia.read(performance.now()), readDrmBoards(root)]);
  return matchBoards(devices, [...rows, ...cards]);
}

/** `rise` is the growth of the throttling counter since the last reading. */
function toCpuSensor({ sensor }: CpuReading, rise: number): Sensor[] {
  if (sensor.clockMhz === null && sensor.temperatureC === null) return [];
  return [{ ...sensor, throttled: rise > 0 ? `too hot ${rise} times since the last reading` : null }];
}

function toGpuSensor(key: string, board: GpuBoard): Sensor {
  const { clockMhz, maxClockMhz, temperatureC, limitC, utilisation, throttled, source } = board;
  return { of: key, clockMhz, maxClockMhz, temperatureC, limitC, utilisation, throttled, source };
}
