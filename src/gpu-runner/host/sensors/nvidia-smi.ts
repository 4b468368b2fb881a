import { execFile } from "node:child_process";
import { setTimeout as delay } from "node:timers/promises";
import { promisify } from "node:util";
import { type GpuBoard, toPciAddress } from "./gpu-board.ts";

const MiB = 2 ** 20;

/** Fields of the `nvidia-smi` query, in the order of the columns; `reasons` is the field with two spellings. */
function nvidiaFields(reasons: string): string[] {
  return [
    "name",
    "uuid",
    "pci.bus_id",
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
 * Throttling bits for the card's own protection, without idle cards and clocks set by users.
 * Source: NVIDIA's NVML reference, nvmlClocksEventReasons.
 */
const REASONS: readonly (readonly [bit: number, reason: string])[] = [
  [0x04, "power cap"],
  [0x08, "hardware slowdown"],
  [0x10, "in step with a slower card"],
  [0x20, "thermal slowdown by the driver"],
  [0x40, "thermal slowdown by the card"],
  [0x80, "power brake"],
];

/** Parses the rows of `--format=csv,noheader,nounits` for the fields above, one per card, in the driver's order. */
export function parseNvidiaRows(text: string): GpuBoard[] {
  return text
    .split("\n")
    .map((line) => line.split(",").map((cell) => cell.trim()))
    .filter((cells) => cells.length === nvidiaFields("").length)
    .map(([name, uuid, address, memoryMiB, powerW, maxSmMhz, maxMemoryMhz, smMhz, degrees, busyPercent, reasons]) => {
      const memory = toNumber(memoryMiB);
      const percent = toNumber(busyPercent);
      return {
        source: "nvidia-smi",
        vendor: "nvidia",
        name: toText(name),
        uuid: toText(uuid),
        pciAddress: toPciAddress(address),
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

/** A card without a value has `[N/A]`, `[Not Supported]` or similar. */
function toText(cell: string | undefined): string | null {
  return cell === undefined || cell === "" || /^\[.*\]$|^N\/A$/.test(cell) ? null : cell;
}

function toNumber(cell: string | undefined): number | null {
  const text = toText(cell);
  const value = Number(text);
  return text === null || !Number.isFinite(value) ? null : value;
}

/** Runs a program and returns its output; fails like `execFile`. */
export type RunProgram = (file: string, args: readonly string[], timeoutMs: number) => Promise<string>;

const TIMEOUT_MS = 3_000;
/** Time for which a reading is reused: the program takes tens of milliseconds of a core. */
const FRESH_MS = 2_000;
/** Pause after a failure, such as a driver that does not answer. */
const RETRY_MS = 60_000;
/** The newer spelling first. A driver that lacks it fails the whole query. */
const SPELLINGS = ["clocks_event_reasons.active", "clocks_throttle_reasons.active"] as const;

const runFile: RunProgram = async (file, args, timeoutMs) => {
  const options = { timeout: timeoutMs, killSignal: "SIGKILL", windowsHide: true } as const;
  return (await promisify(execFile)(file, [...args], options)).stdout;
};

/** Client of NVIDIA's program, which runs seldom and once at a time; an absent one is looked for only once. */
export class NvidiaSmi {
  readonly #run: RunProgram;
  #spelling = 0;
  #boards: GpuBoard[] = [];
  #askAgainAtMs = Number.NEGATIVE_INFINITY;
  #asking: Promise<void> | null = null;

  constructor(run: RunProgram = runFile) {
    this.#run = run;
  }

  /** Whether the machine turned out to lack the program. */
  get isAbsent(): boolean {
    return this.#askAgainAtMs === Number.POSITIVE_INFINITY;
  }

  /**
   * Reported cards; none where the program is absent, fails or does not answer in time. `nowMs` is of any monotonic
   * clock.
   */
  async read(nowMs: number): Promise<readonly GpuBoard[]> {
    if (nowMs >= this.#askAgainAtMs && this.#asking === null) {
      this.#asking = this.#ask(nowMs).finally(() => {
        this.#asking = null;
      });
    }
    // A program that hangs in its driver survives even SIGKILL.
    const tooLate = new AbortController();
    const limit = delay(TIMEOUT_MS + 500, null, { signal: tooLate.signal, ref: false }).catch(() => null);
    await Promise.race([this.#asking, limit]);
    tooLate.abort();
    return this.#asking === null ? this.#boards : [];
  }

  async #ask(nowMs: number): Promise<void> {
    try {
      this.#boards = parseNvidiaRows(await this.#query());
      this.#askAgainAtMs = nowMs + FRESH_MS;
    } catch (error) {
      this.#boards = [];
      this.#askAgainAtMs = isMissing(error) ? Number.POSITIVE_INFINITY : nowMs + RETRY_MS;
    }
  }

  async #query(): Promise<string> {
    const fields = nvidiaFields(SPELLINGS[this.#spelling]!);
    const args = [`--query-gpu=${fields.join(",")}`, "--format=csv,noheader,nounits"];
    try {
      return await this.#run("nvidia-smi", args, TIMEOUT_MS);
    } catch (error) {
      if (!isUnknownField(error) || this.#spelling + 1 === SPELLINGS.length) throw error;
      this.#spelling += 1;
      return this.#query();
    }
  }
}

function isMissing(error: unknown): boolean {
  return error instanceof Error && "code" in error && (error.code === "ENOENT" || error.code === "EACCES");
}

/** The program's output is then `Field "…" is not a valid field to query.` */
function isUnknownField(error: unknown): boolean {
  return error instanceof Error && "stdout" in error && String(error.stdout).includes("not a valid field");
}
