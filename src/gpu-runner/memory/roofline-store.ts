import { mkdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Device, Fingerprint } from "../../protocol/fleet/hardware.ts";
import { ProblemError } from "../../protocol/wire/problem.ts";
import { Roofline } from "../../protocol/fleet/roofline.ts";
import { digestFingerprint, writeWhole } from "../host/files.ts";
import type { DeviceHost, WorkOptions } from "../device-host/device-host.ts";

/** Time limit of a measurement; its first user waits that long, once in a while. */
const BUDGET_MS = 3_000;
/** Time after which the device's process is ended as hanging. */
const TIMEOUT_MS = 30_000;
/** Machines change in ways that no fingerprint shows: cooling, memory, neighbours. */
const MAX_AGE_MS = 30 * 86_400_000;

type MeasuredHost = Pick<DeviceHost, "device" | "work">;

/** Roofs of this machine's devices: in `device.roofline`, and by fingerprint on the disk. */
export class RooflineStore {
  readonly #folder: string;
  readonly #onMeasured: (device: Device) => void;
  readonly #failures = new Map<Device, string>();

  constructor(dataDir: string, onMeasured: (device: Device) => void) {
    this.#folder = join(dataDir, "rooflines");
    this.#onMeasured = onMeasured;
  }

  /** Sets a device's roofs from earlier measurements here, unless they are too old. */
  async recall(device: Device, nowMs: number): Promise<void> {
    const roofline = await readRoofline(this.#pathOf(device.fingerprint));
    device.roofline = roofline !== null && isFresh(roofline, nowMs) ? roofline : null;
  }

  /**
   * Roofs of a device, measured now where none are known or they are too old. Where measuring fails, `missing` gives
   * the reason, and this process does not try again. Fails with `cancelled` only.
   */
  async ensure(
    host: MeasuredHost,
    nowMs: number,
    options: WorkOptions,
  ): Promise<{ roofline: Roofline | null; missing: string | null }> {
    const { device } = host;
    const known = device.roofline;
    if (known !== null && isFresh(known, nowMs)) return { roofline: known, missing: null };
    const failure = this.#failures.get(device);
    if (failure !== undefined) return { roofline: known, missing: failure };
    try {
      const roofline = await host.work("measureRoofline", { budgetMs: BUDGET_MS }, TIMEOUT_MS, options);
      device.roofline = roofline;
      this.#onMeasured(device);
      // Without the file they are measured again after the next start; no job fails for that.
      await this.#write(device.fingerprint, roofline).catch(() => undefined);
      return { roofline, missing: null };
    } catch (error) {
      if (!(error instanceof ProblemError) || error.problem.code === "cancelled") throw error;
      const missing = `The device's roofs could not be measured: ${error.problem.detail}`;
      this.#failures.set(device, missing);
      return { roofline: known, missing };
    }
  }

  #pathOf(fingerprint: Fingerprint): string {
    return join(this.#folder, `${digestFingerprint(fingerprint)}.json`);
  }

  async #write(fingerprint: Fingerprint, roofline: Roofline): Promise<void> {
    await mkdir(this.#folder, { recursive: true });
    await writeWhole(this.#pathOf(fingerprint), JSON.stringify(roofline));
  }
}

function isFresh({ measuredAt }: Roofline, nowMs: number): boolean {
  return nowMs - Date.parse(measuredAt) < MAX_AGE_MS;
}

/** Roofline in a file; null where there is none, or none of this form. */
async function readRoofline(path: string): Promise<Roofline | null> {
  try {
    return Roofline.parse(JSON.parse(await readFile(path, "utf8")));
  } catch {
    return null;
  }
}
