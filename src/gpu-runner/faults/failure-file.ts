import { createHash } from "node:crypto";
import { readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { BaseLogger } from "pino";
import { z } from "zod";
import { fingerprintText } from "../../protocol/fingerprint-id.ts";
import type { Fingerprint } from "../../protocol/hardware.ts";
import { FailureRecord } from "./kernel-quarantine.ts";

/** Records by kernel, by device. */
const Records = z.record(z.string(), z.record(z.string(), FailureRecord));

/**
 * What failed where, in `failures.json` of the runner's folder: a runner that is started again must not
 * find out anew, crash by crash. Devices of one fingerprint share their records.
 */
export class FailureFile {
  readonly #path: string;
  readonly #logger: Pick<BaseLogger, "warn">;
  readonly #records: z.infer<typeof Records>;

  /** Reads the folder's file; one that is not there, or cannot be read, is as good as an empty one. */
  constructor(dataDir: string, logger: Pick<BaseLogger, "warn">) {
    this.#logger = logger;
    this.#path = join(dataDir, "failures.json");
    this.#records = readRecords(this.#path);
  }

  find(device: Fingerprint, kernel: string): FailureRecord | undefined {
    return this.#records[digestOf(device)]?.[kernel];
  }

  /** Everything that is known of a device, by kernel. */
  all(device: Fingerprint): [kernel: string, record: FailureRecord][] {
    return Object.entries(this.#records[digestOf(device)] ?? {});
  }

  /** Keeps a record, or forgets it: on disk, whole or not at all. A disk that takes nothing costs only what a restart forgets. */
  save(device: Fingerprint, kernel: string, record: FailureRecord | null): void {
    const ofDevice = (this.#records[digestOf(device)] ??= {});
    if (record === null) delete ofDevice[kernel];
    else ofDevice[kernel] = record;
    const draft = `${this.#path}.${process.pid}`;
    try {
      writeFileSync(draft, `${JSON.stringify(this.#records, null, 2)}\n`);
      renameSync(draft, this.#path);
    } catch (error) {
      this.#logger.warn({ error }, "failures of kernels cannot be kept");
    }
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
  return createHash("sha256").update(fingerprintText(device)).digest("hex").slice(0, 16);
}
