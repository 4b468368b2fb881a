import type { Device, GpuBoard as WireBoard } from "../../../protocol/fleet/hardware.ts";
import { toDeviceName } from "../hardware/device-names.ts";

/** Graphics card as reported by its driver's program or the system's files; null where they report nothing. */
export interface GpuBoard {
  readonly source: "nvidia-smi" | "sysfs";
  readonly vendor: "nvidia" | "amd" | "intel";
  readonly name: string | null;
  readonly uuid: string | null;
  /** Such as `0000:41:00.0`. */
  readonly pciAddress: string | null;
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

const PCI_ADDRESS = /^([0-9a-f]{4,8}):([0-9a-f]{2}:[0-9a-f]{2}\.[0-7])$/;

/** A PCI address in the kernel's form; null for other text. NVIDIA's program writes the domain with eight digits. */
export function toPciAddress(text: string | undefined): string | null {
  const [, domain, place] = PCI_ADDRESS.exec(text?.toLowerCase() ?? "") ?? [];
  return domain === undefined ? null : `${domain.slice(-4)}:${place}`;
}

/** Identification of a GPU; one that was shown a single card has that card's board. */
export type KnownGpu = Pick<Device, "key" | "name" | "kind" | "software" | "board"> & {
  readonly fingerprint: Pick<Device["fingerprint"], "adapter">;
};

/** A GPU's card, and how it was found. */
export type MatchedBoard = GpuBoard & { readonly matchedBy: NonNullable<WireBoard["matchedBy"]> };

/**
 * Card of each GPU, by key. A GPU that was shown a single card has that one, by its address. The others share the rest first:
 * cards with names are matched by name, of several with the same the first. Otherwise the first adapter of a vendor is
 * its card with the most memory, and so on, since adapters are listed best first. The rest have no card.
 */
export function matchBoards(
  devices: readonly KnownGpu[],
  boards: readonly GpuBoard[],
): ReadonlyMap<string, MatchedBoard> {
  const gpus = devices.filter(({ kind, software }) => kind === "gpu" && !software);
  const matched = new Map<string, MatchedBoard>();
  for (const { key, board: shown } of gpus) {
    if (shown?.matchedBy !== "address") continue;
    const board = boards.find(({ pciAddress }) => pciAddress === shown.pciAddress);
    if (board !== undefined) matched.set(key, { ...board, matchedBy: "address" });
  }
  const taken = new Set([...matched.values()].map(({ pciAddress }) => pciAddress));
  // A card that a device was shown may also be another runtime's, where no other card fits.
  const isTaken = ({ pciAddress }: GpuBoard) => Number(pciAddress !== null && taken.has(pciAddress));
  const freeFirst = boards.toSorted((a, b) => isTaken(a) - isTaken(b));
  const unmatched = gpus.filter(({ board }) => board?.matchedBy !== "address");
  for (const gpu of unmatched) {
    const vendor = vendorOf(gpu);
    const ofVendor = freeFirst.filter((board) => board.vendor === vendor);
    // Devices of Dawn and of ONNX Runtime may be the same adapter.
    const names = [...new Set(unmatched.filter((other) => vendorOf(other) === vendor).map(({ name }) => name))];
    const unnamed = ofVendor
      .filter(({ name }) => name === null)
      .toSorted((a, b) => isTaken(a) - isTaken(b) || (b.memoryBytes ?? 0) - (a.memoryBytes ?? 0));
    const named = ofVendor.find((board) => isNamed(board, gpu.name));
    const board =
      named ??
      unnamed[names.indexOf(gpu.name)] ??
      (names.length === 1 && ofVendor.length === 1 ? ofVendor[0] : undefined);
    if (board !== undefined) matched.set(gpu.key, { ...board, matchedBy: named === undefined ? "order" : "name" });
  }
  return matched;
}

function isNamed({ name }: GpuBoard, deviceName: string): boolean {
  return name !== null && toDeviceName(name) === deviceName;
}

/** Cards that may be behind an adapter of this name: those of the name, else the nameless ones of its vendor. */
export function cardsNamed<Card extends GpuBoard>(adapter: string, cards: readonly Card[]): Card[] {
  const named = cards.filter((card) => isNamed(card, toDeviceName(adapter)));
  const vendor = vendorOf({ name: adapter, fingerprint: { adapter } });
  return named.length > 0 ? named : cards.filter((card) => card.name === null && card.vendor === vendor);
}

/** The name in WebGPU begins with the vendor's name in one word. */
function vendorOf({ fingerprint, name }: Pick<KnownGpu, "fingerprint" | "name">): GpuBoard["vendor"] | null {
  const text = `${fingerprint.adapter ?? ""} ${name}`.toLowerCase();
  return (["nvidia", "amd", "intel"] as const).find((vendor) => text.includes(vendor)) ?? null;
}

/** A card's fixed data, as a device carries them. */
export function describeBoard(board: MatchedBoard): WireBoard {
  const { name, uuid, pciAddress, matchedBy, memoryBytes, maxClockMhz, maxMemoryClockMhz, powerLimitW, source } = board;
  return { name, uuid, pciAddress, matchedBy, memoryBytes, maxClockMhz, maxMemoryClockMhz, powerLimitW, source };
}

/** Adds card data to devices, including the memory that WebGPU does not report. */
export function noteBoards(devices: readonly Device[], boards: ReadonlyMap<string, MatchedBoard>): void {
  for (const device of devices) {
    const board = boards.get(device.key);
    if (board === undefined) continue;
    device.board = describeBoard(board);
    device.memoryBytes ??= board.memoryBytes;
  }
}
