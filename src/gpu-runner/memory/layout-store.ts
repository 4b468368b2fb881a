import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Logger } from "pino";
import { z } from "zod";
import { type Fingerprint } from "../../protocol/fleet/hardware.ts";
import { NetworkLayout, type NetworkLayouts } from "../../protocol/models/network-layout.ts";
import { LIMITS } from "../../protocol/wire/limits.ts";
import { digestFingerprint, writeWhole } from "../host/files.ts";

/** Of our kernels and their layouts: raised where those that were measured before no longer hold. */
const VERSION = 5;

const StoredLayouts = z.object({
  version: z.literal(VERSION),
  layouts: z.record(z.string(), z.record(z.string(), NetworkLayout)),
});

/**
 * Layouts of networks in our kernels, measured here, by the digest of the file, the fingerprint of the device, and the
 * sizes.
 */
export class LayoutStore {
  readonly #path: string;
  readonly #logger: Pick<Logger, "warn">;
  /** In order of age, the oldest first. */
  readonly #known: Map<string, NetworkLayouts>;

  private constructor(path: string, logger: Pick<Logger, "warn">, known: Map<string, NetworkLayouts>) {
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

  /** By sizes; none where nothing was measured. */
  find(digest: string, fingerprint: Fingerprint): NetworkLayouts {
    return this.#known.get(keyOf(digest, fingerprint)) ?? {};
  }

  /** Keeps layouts beside those of other sizes; the oldest sizes, and files, are dropped where there are too many. */
  async save(digest: string, fingerprint: Fingerprint, layouts: NetworkLayouts): Promise<void> {
    const key = keyOf(digest, fingerprint);
    const others = Object.entries(this.find(digest, fingerprint)).filter(([sizes]) => !(sizes in layouts));
    const all = [...others, ...Object.entries(layouts)].slice(-LIMITS.layoutSizes);
    this.#known.delete(key);
    this.#known.set(key, Object.fromEntries(all));
    const oldest = this.#known.keys().next();
    if (this.#known.size > LIMITS.storedLayouts && !oldest.done) this.#known.delete(oldest.value);
    await this.#write();
  }

  /** Forgets the layouts of a file that no longer opens. */
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
