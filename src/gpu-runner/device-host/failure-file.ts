import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { BaseLogger } from "pino";
import { z } from "zod";
import type { Fingerprint } from "../../protocol/fleet/hardware.ts";
import { digestFingerprint, writeWhole } from "../host/files.ts";
import { FailureRecord, isForgotten } from "./quarantine.ts";

/** Failure records by device, then by kernel. */
const Records = z.record(z.string(), z.record(z.string(), FailureRecord));

/**
 * Failure records in `failures.json` of the runner's folder: a restarted runner need not rediscover them, crash by
 * crash. Devices of one fingerprint share their records.
 */
export class FailureFile {
  readonly #path: string;
  readonly #logger: Pick<BaseLogger, "warn">;
  readonly #records: z.infer<typeof Records>;
  #written: Promise<void> = Promise.resolve();

  /** Reads the folder's file; a missing or unreadable one counts as empty. */
  constructor(dataDir: string, logger: Pick<BaseLogger, "warn">) {
    this.#logger = logger;
    this.#path = join(dataDir, "failures.json");
    this.#records = readRecords(this.#path);
  }

  find(device: Fingerprint, kernel: string): FailureRecord | undefined {
    return this.#records[digestOf(device)]?.[kernel];
  }

  /** All records of a device, by kernel. */
  all(device: Fingerprint): [kernel: string, record: FailureRecord][] {
    return Object.entries(this.#records[digestOf(device)] ?? {});
  }

  /**
   * Keeps a record at once, or forgets it; outdated records are forgotten too. Settles when the change is on disk.
   * A failed write costs only the records that a restart then forgets.
   */
  save(device: Fingerprint, kernel: string, record: FailureRecord | null, nowMs: number): Promise<void> {
    const ofDevice = (this.#records[digestOf(device)] ??= {});
    if (record === null) delete ofDevice[kernel];
    else ofDevice[kernel] = record;
    for (const records of Object.values(this.#records)) {
      for (const [name, each] of Object.entries(records)) if (isForgotten(each, nowMs)) delete records[name];
    }
    this.#written = this.#written
      .then(() => writeWhole(this.#path, `${JSON.stringify(this.#records, null, 2)}\n`))
      .catch((error: unknown) => this.#logger.warn({ error }, "failures of kernels cannot be kept"));
    return this.#written;
  }
}

function readRecords(path: string): z.infer<typeof Records> {
  try {
    return Records.parse(JSON.parse(readFileSync(path, "utf8")));
  } catch {
    return {};
  }
}

function digestOf(device: Fingerprint): string {
  return digestFingerprint(device).slice(0, 16);
}
