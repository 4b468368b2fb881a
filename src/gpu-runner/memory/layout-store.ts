import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Logger } from "pino";
import { z } from "zod";
import { type Fingerprint } from "../../protocol/fleet/hardware.ts";
import { LIMITS } from "../../protocol/wire/limits.ts";
import { digestFingerprint, writeWhole } from "../host/files.ts";
import type { Layout } from "../networks/schedule-operators.ts";

/** Of our kernels and their layouts: raised where those that were measured before no longer hold. */
const VERSION = 2;

const StoredLayouts = z.object({
  version: z.literal(VERSION),
  layouts: z.record(
    z.string(),
    z.object({
      lanes: z.int().positive(),
      spreadFrom: z.number().nonnegative(),
      tiling: z.enum(["in-registers", "in-workgroup-memory"]).nullable(),
      groupsAtMost: z.int().positive(),
      lineLanes: z.int().positive().nullable(),
      hasAttention: z.boolean(),
    }),
  ),
});

/** Layouts of networks in our kernels, measured here, by the digest of the file and the fingerprint of the device. */
export class LayoutStore {
  readonly #path: string;
  readonly #logger: Pick<Logger, "warn">;
  /** In order of age, the oldest first. */
  readonly #known: Map<string, Layout>;

  private constructor(path: string, logger: Pick<Logger, "warn">, known: Map<string, Layout>) {
    this.#path = path;
    this.#logger = logger;
    this.#known = known;
  }

  /** Reads `layouts.json`; without it, or where it is damaged or of other kernels, nothing is known. */
  static async open(dataDir: string, logger: Pick<Logger, "warn">): Promise<LayoutStore> {
    const path = join(dataDir, "layouts.json");
    const known = await readFile(path, "utf8")
      .then((text) => StoredLayouts.parse(JSON.parse(text)).layouts)
      .catch(() => ({}));
    return new LayoutStore(path, logger, new Map(Object.entries(known)));
  }

  find(digest: string, fingerprint: Fingerprint): Layout | undefined {
    return this.#known.get(keyOf(digest, fingerprint));
  }

  /** Keeps a layout; the oldest is dropped where there are too many. */
  async save(digest: string, fingerprint: Fingerprint, layout: Layout): Promise<void> {
    this.#known.set(keyOf(digest, fingerprint), layout);
    const oldest = this.#known.keys().next();
    if (this.#known.size > LIMITS.storedLayouts && !oldest.done) this.#known.delete(oldest.value);
    await this.#write();
  }

  /** Forgets a layout that no longer opens. */
  async remove(digest: string, fingerprint: Fingerprint): Promise<void> {
    if (this.#known.delete(keyOf(digest, fingerprint))) await this.#write();
  }

  async #write(): Promise<void> {
    try {
      await writeWhole(this.#path, JSON.stringify({ version: VERSION, layouts: Object.fromEntries(this.#known) }));
    } catch (error) {
      this.#logger.warn({ error }, "the layout of a network cannot be kept");
    }
  }
}

function keyOf(digest: string, fingerprint: Fingerprint): string {
  return `${digest} ${digestFingerprint(fingerprint)}`;
}
