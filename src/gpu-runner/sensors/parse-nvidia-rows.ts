import type { GpuBoard } from "./gpu-board.ts";

const MiB = 2 ** 20;

/** What is asked of `nvidia-smi`, in the order of the columns; `reasons` is the field that drivers spell in two ways. */
export function nvidiaFields(reasons: string): string[] {
  return [
    "name",
    "uuid",
    "memory.total",
    "power.limit",
    "clocks.max.sm",
    "clocks.max.memory",
    "clocks.sm",
    "temperature.gpu",
    "utilization.gpu",
    reasons,
  ];
}

/**
 * Bits by which a card says that it runs slower than it could for its own sake. An idle card and clocks that
 * somebody set are not among them. NVIDIA's NVML reference, nvmlClocksEventReasons.
 */
const REASONS: readonly (readonly [bit: number, reason: string])[] = [
  [0x04, "power cap"],
  [0x08, "hardware slowdown"],
  [0x10, "in step with a slower card"],
  [0x20, "thermal slowdown by the driver"],
  [0x40, "thermal slowdown by the card"],
  [0x80, "power brake"],
];

/** Reads the rows of `--format=csv,noheader,nounits` for the fields above, one a card, in the driver's order. */
export function parseNvidiaRows(text: string): GpuBoard[] {
  return text
    .split("\n")
    .map((line) => line.split(",").map((cell) => cell.trim()))
    .filter((cells) => cells.length === nvidiaFields("").length)
    .map(([name, uuid, memoryMiB, powerW, maxSmMhz, maxMemoryMhz, smMhz, degrees, busyPercent, reasons]) => {
      const memory = toNumber(memoryMiB);
      const percent = toNumber(busyPercent);
      return {
        source: "nvidia-smi",
        vendor: "nvidia",
        name: toText(name),
        uuid: toText(uuid),
        memoryBytes: memory === null ? null : memory * MiB,
        powerLimitW: toNumber(powerW),
        maxClockMhz: toNumber(maxSmMhz),
        maxMemoryClockMhz: toNumber(maxMemoryMhz),
        clockMhz: toNumber(smMhz),
        temperatureC: toNumber(degrees),
        limitC: null,
        utilisation: percent === null ? null : percent / 100,
        throttled: nameReasons(toNumber(reasons)),
      };
    });
}

function nameReasons(bits: number | null): string | null {
  const named = REASONS.filter(([bit]) => ((bits ?? 0) & bit) !== 0).map(([, reason]) => reason);
  return named.length === 0 ? null : named.join(", ");
}

/** `[N/A]`, `[Not Supported]` and the like stand where a card does not tell. */
function toText(cell: string | undefined): string | null {
  return cell === undefined || cell === "" || /^\[.*\]$|^N\/A$/.test(cell) ? null : cell;
}

function toNumber(cell: string | undefined): number | null {
  const text = toText(cell);
  const value = Number(text);
  return text === null || !Number.isFinite(value) ? null : value;
}
