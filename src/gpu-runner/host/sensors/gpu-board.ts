import type { Device } from "../../../protocol/fleet/hardware.ts";
import { toDeviceName } from "../hardware/device-names.ts";

/** Graphics card as reported by its driver's program or the system's files; null where they report nothing. */
export interface GpuBoard {
  readonly source: "nvidia-smi" | "sysfs";
  readonly vendor: "nvidia" | "amd" | "intel";
  readonly name: string | null;
  readonly uuid: string | null;
  readonly memoryBytes: number | null;
  readonly powerLimitW: number | null;
  readonly maxClockMhz: number | null;
  readonly maxMemoryClockMhz: number | null;
  readonly clockMhz: number | null;
  readonly temperatureC: number | null;
  /** Temperature at which it throttles. */
  readonly limitC: number | null;
  /** Utilisation of the last moments, over a length that the driver chooses. */
  readonly utilisation: number | null;
  /** Present reasons for throttling. */
  readonly throttled: string | null;
}

/** Identification of a GPU. */
export type KnownGpu = Pick<Device, "key" | "name" | "kind" | "software"> & {
  readonly fingerprint: Pick<Device["fingerprint"], "adapter">;
};

/**
 * Card of each GPU, by key. Cards with names are matched by name; of several with the same, the first, since it is the
 * one that opens by its name. Otherwise the first adapter of a vendor is its card with the most memory, and so on,
 * since adapters are listed best first. The rest have no card.
 */
export function matchBoards(devices: readonly KnownGpu[], boards: readonly GpuBoard[]): ReadonlyMap<string, GpuBoard> {
  const gpus = devices.filter(({ kind, software }) => kind === "gpu" && !software);
  const matched = new Map<string, GpuBoard>();
  for (const gpu of gpus) {
    const vendor = vendorOf(gpu);
    const ofVendor = boards.filter((board) => board.vendor === vendor);
    // Devices of Dawn and of ONNX Runtime may be the same adapter.
    const names = [...new Set(gpus.filter((other) => vendorOf(other) === vendor).map(({ name }) => name))];
    const unnamed = ofVendor
      .filter(({ name }) => name === null)
      .toSorted((a, b) => (b.memoryBytes ?? 0) - (a.memoryBytes ?? 0));
    const board =
      ofVendor.find(({ name }) => name !== null && toDeviceName(name) === gpu.name) ??
      unnamed[names.indexOf(gpu.name)] ??
      (names.length === 1 && ofVendor.length === 1 ? ofVendor[0] : undefined);
    if (board !== undefined) matched.set(gpu.key, board);
  }
  return matched;
}

/** The name in WebGPU begins with the vendor's name in one word. */
function vendorOf({ fingerprint, name }: KnownGpu): GpuBoard["vendor"] | null {
  const text = `${fingerprint.adapter ?? ""} ${name}`.toLowerCase();
  return (["nvidia", "amd", "intel"] as const).find((vendor) => text.includes(vendor)) ?? null;
}

/** Adds card data to devices, including the memory that WebGPU does not report. */
export function noteBoards(devices: readonly Device[], boards: ReadonlyMap<string, GpuBoard>): void {
  for (const device of devices) {
    const board = boards.get(device.key);
    if (board === undefined) continue;
    const { name, uuid, memoryBytes, maxClockMhz, maxMemoryClockMhz, powerLimitW, source } = board;
    device.board = { name, uuid, memoryBytes, maxClockMhz, maxMemoryClockMhz, powerLimitW, source };
    device.memoryBytes ??= memoryBytes;
  }
}
