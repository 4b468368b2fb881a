import { mkdir, readdir, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import type { Logger } from "pino";
import { type Fingerprint, fingerprintText } from "../../protocol/fleet/hardware.ts";
import { tuningIdOf, TuningRecord } from "../../protocol/jobs/tuning.ts";
import { kernelEndpoints } from "../../protocol/kernels/kernel-endpoints.ts";
import { LIMITS } from "../../protocol/wire/limits.ts";
import { ProblemError } from "../../protocol/wire/problem.ts";
import { type EdgeAccess, openEdge } from "../link/edge-client.ts";
import { writeWhole } from "../host/files.ts";

/** Source of tunings by others: the tuning with an id, or null where it is unknown. */
export type TuningSource = (id: string) => Promise<TuningRecord | null>;

interface CacheParts {
  readonly dataDir: string;
  /** Fingerprints of this runner's devices; tunings of other devices stay unread. */
  readonly fingerprints: readonly Fingerprint[];
  /** Source of tunings that are not on this disk. */
  readonly source: TuningSource;
  readonly logger: Pick<Logger, "warn">;
}

/** Tunings of this runner by id: from its disk, and from the edge. */
export class TuningCache {
  readonly #folder: string;
  readonly #source: TuningSource;
  readonly #logger: CacheParts["logger"];
  /** In order of age, the oldest first. */
  readonly #known: Map<string, TuningRecord>;

  private constructor({ source, logger }: CacheParts, folder: string, known: Map<string, TuningRecord>) {
    this.#folder = folder;
    this.#source = source;
    this.#logger = logger;
    this.#known = known;
  }

  /** Reads the folder `tunings`. A damaged file, or one of another device, is logged and left. */
  static async open(parts: CacheParts): Promise<TuningCache> {
    const folder = join(parts.dataDir, "tunings");
    await mkdir(folder, { recursive: true });
    const own = new Set(parts.fingerprints.map(fingerprintText));
    const records: [string, TuningRecord][] = [];
    for (const file of (await readdir(folder)).filter((name) => name.endsWith(".json"))) {
      const read = await readRecord(folder, file, own);
      if ("reason" in read) parts.logger.warn({ file: join(folder, file), ...read }, "a stored tuning is ignored");
      else records.push([file.replace(".json", ""), read.record]);
    }
    records.sort(([, a], [, b]) => (a.tuning.tunedAt < b.tuning.tunedAt ? -1 : 1));
    return new TuningCache(parts, folder, new Map(records));
  }

  /** Tuning with this id, from here or from the edge; only from here where the edge cannot be reached. */
  async find(id: string): Promise<TuningRecord | null> {
    const known = this.#known.get(id);
    if (known !== undefined) return known;
    try {
      const found = await this.#source(id);
      if (found !== null) await this.save(id, found);
      return found;
    } catch (error) {
      this.#logger.warn({ error, id }, "the edge could not be asked for a tuning");
      return null;
    }
  }

  /**
   * Keeps a tuning; the oldest is dropped where there are too many. A full disk only means that a restart forgets it.
   */
  async save(id: string, record: TuningRecord): Promise<void> {
    this.#known.delete(id);
    this.#known.set(id, record);
    const oldest = this.#known.keys().next();
    const isOneTooMany = this.#known.size > LIMITS.storedTunings && !oldest.done;
    if (isOneTooMany) this.#known.delete(oldest.value);
    try {
      await writeWhole(this.#pathOf(id), JSON.stringify(record));
      if (isOneTooMany) await rm(this.#pathOf(oldest.value), { force: true });
    } catch (error) {
      this.#logger.warn({ error, id }, "a tuning cannot be kept");
    }
  }

  #pathOf(id: string): string {
    return join(this.#folder, `${id}.json`);
  }
}

async function readRecord(
  folder: string,
  file: string,
  own: ReadonlySet<string>,
): Promise<{ record: TuningRecord } | { reason: string }> {
  try {
    const record = TuningRecord.parse(JSON.parse(await readFile(join(folder, file), "utf8")));
    if (!own.has(fingerprintText(record.tuning.fingerprint))) return { reason: "it was found on another device" };
    if (`${await tuningIdOf(record.tuning)}.json` !== file) return { reason: "its content does not match its name" };
    return { record };
  } catch (error) {
    return { reason: `it cannot be read: ${(error as Error).message.slice(0, 200)}` };
  }
}

/** A job waits for the answer, and can do without. */
const TIMEOUT_MS = 3_000;

/**
 * Asks the edge for one tuning at a time, as this runner. Fails where it cannot be reached or its answer is invalid.
 */
export function createTuningSource(access: EdgeAccess): TuningSource {
  const edge = openEdge(access);
  return async (id) => {
    try {
      const signal = AbortSignal.timeout(TIMEOUT_MS);
      return await edge.call(kernelEndpoints.fetchTuning, { params: { id }, signal });
    } catch (error) {
      if (error instanceof ProblemError && error.problem.code === "not-found") return null;
      throw error;
    }
  };
}
