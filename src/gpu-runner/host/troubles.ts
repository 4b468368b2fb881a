import { rm } from "node:fs/promises";
import { join } from "node:path";
import type { BaseLogger } from "pino";
import { type Fault, sentenceOf } from "../../checkup/fault.ts";
import { TROUBLES_FILE, type ToldFault } from "../../checkup/runner-folder.ts";
import { writeWhole } from "./files.ts";

/** A fault that is met again is logged again after this time. */
const AGAIN_MS = 600_000;
/** Subjects that `millrace doctor` judges itself, as they are when it is asked. */
const SEEN = new Set(["clock", "drivers", "gpu", "memory", "open-files", "process-memory", "proxy-setting"]);

/**
 * Faults of this runner that last. Each is logged once, then rarely; the folder keeps them for `millrace doctor`, which
 * cannot see them from outside.
 */
export class Troubles {
  readonly #logger: Pick<BaseLogger, "warn" | "error">;
  readonly #told = new Map<string, ToldFault>();
  /** When each cause of a subject was logged last: one that comes and goes is not news each time. */
  readonly #loggedAtMs = new Map<string, number>();
  #file: string | null = null;
  #written: Promise<void> = Promise.resolve();

  constructor(logger: Pick<BaseLogger, "warn" | "error">) {
    this.#logger = logger;
  }

  /** Keeps them in a folder that is this runner's own; those of its last run are forgotten. */
  async keepIn(dataDir: string): Promise<void> {
    this.#file = join(dataDir, TROUBLES_FILE);
    await rm(this.#file, { force: true });
    if (this.#told.size > 0) this.#write();
  }

  /** Tells a fault of a subject, such as `link`, instead of the one that it had; each again only after ten minutes. */
  tell(fault: Fault, subject: string = fault.cause): void {
    const nowMs = performance.now();
    const key = `${subject} ${fault.cause}`;
    const isNews = nowMs - (this.#loggedAtMs.get(key) ?? Number.NEGATIVE_INFINITY) >= AGAIN_MS;
    if (isNews || this.#told.get(subject)?.cause !== fault.cause) this.#note(fault, subject);
    if (!isNews) return;
    this.#loggedAtMs.set(key, nowMs);
    this.#logger[fault.isMild ? "warn" : "error"]({ fault: fault.cause }, sentenceOf(fault));
  }

  /** The subject is well again. */
  ended(subject: string): void {
    if (this.#told.delete(subject)) this.#write();
  }

  /** Keeps the fault that ends this runner, which its caller tells; settles when it is on disk. */
  async last(fault: Fault): Promise<void> {
    this.#note(fault, "end");
    await this.#written;
  }

  #note(fault: Fault, subject: string): void {
    if (SEEN.has(subject)) return;
    this.#told.set(subject, { ...fault, at: new Date().toISOString() });
    this.#write();
  }

  #write(): void {
    const file = this.#file;
    if (file === null) return;
    const text = JSON.stringify({ pid: process.pid, faults: Object.fromEntries(this.#told) });
    // A full disk is a fault of its own.
    this.#written = this.#written.then(() => writeWhole(file, `${text}\n`)).catch(() => undefined);
  }
}
