import { existsSync } from "node:fs";
import path from "node:path";
import type { Sensor } from "../../../protocol/fleet/health.ts";
import { listEntries, readText } from "../files.ts";
import { type GpuBoard, type KnownGpu, type MatchedBoard, matchBoards } from "./gpu-board.ts";
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
): Promise<ReadonlyMap<string, MatchedBoard>> {
  if (!devices.some(({ kind, software }) => kind === "gpu" && !software)) return new Map();
  return matchBoards(devices, await readAll({ root, nvidia }));
}

async function readAll({ root, nvidia }: SensorSources): Promise<GpuBoard[]> {
  return (await Promise.all([nvidia.read(performance.now()), readDrmBoards(root)])).flat();
}

/** A card at a known address, with the files by which programs reach it. */
export interface Card extends GpuBoard {
  readonly pciAddress: string;
  /** Its device nodes, such as `/dev/nvidia0` and `/dev/dri/renderD128`. */
  readonly nodes: readonly string[];
}

/**
 * Cards of the machine with their device nodes; those of unknown address are left out, and so are nodes that /sys
 * names and a container lacks.
 * Source: Linux kernel documentation, gpu/drm-uapi (nodes of a device); NVIDIA driver README, "The /proc Interface".
 */
export async function readCards({ root, nvidia }: SensorSources = MACHINE): Promise<Card[]> {
  const boards = (await readAll({ root, nvidia })).filter(hasAddress);
  return Promise.all(
    boards.map(async (board) => {
      const drm = await listEntries(/^(card|renderD)\d+$/, root, "sys/bus/pci/devices", board.pciAddress, "drm");
      const facts = await readText(root, "proc/driver/nvidia/gpus", board.pciAddress, "information");
      const minor = /^Device Minor:\s*(\d+)/m.exec(facts ?? "")?.[1];
      const own = minor === undefined ? [] : [`/dev/nvidia${minor}`];
      const nodes = [...own, ...drm.map((entry) => `/dev/dri/${path.basename(entry)}`)];
      return { ...board, nodes: nodes.filter((node) => existsSync(path.join(root, node))) };
    }),
  );
}

function hasAddress(board: GpuBoard): board is GpuBoard & { readonly pciAddress: string } {
  return board.pciAddress !== null;
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
