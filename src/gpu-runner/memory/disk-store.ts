import { mkdir, readdir, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { constants, zstdCompress, zstdDecompress } from "node:zlib";
import { LIMITS } from "../../protocol/wire/limits.ts";
import { LINK_FOLDER } from "../devices/ort/model-paths.ts";
import { hasDigest, hasFileDigest, writeWhole } from "../host/files.ts";
import type { TierEntry } from "./tier-index.ts";
import type { TierStore } from "./tier-store.ts";

const compress = promisify(zstdCompress);
const decompress = promisify(zstdDecompress);

/** Level 1: higher ones hardly compress weights better, and take several times as long. */
const PARAMS = { params: { [constants.ZSTD_c_compressionLevel]: 1 } };
/** Largest compressed share at which a file is kept compressed, since reading it costs more. */
const WORTH_IT = 0.9;
/** A damaged file may claim any size. */
const UNPACKED_LIMIT = { maxOutputLength: LIMITS.artifactBytes };
const FULL = new Set(["ENOSPC", "EDQUOT", "EFBIG"]);
const SUFFIX = ".zst";
const FILE = /^([0-9a-f]{64})(\.zst)?$/;
const DRAFT = /^[0-9a-f]{64}(\.zst)?\.\d+\.[0-9a-z]+$/;
/** A file whose download goes on after a restart, for a day. */
const PARTIAL = ".partial";
const PARTIAL_MS = 86_400_000;

/**
 * Bytes in files named by their digest: `<hex>` plain, `<hex>.zst` compressed. A file appears complete or not at all,
 * and its digest is checked at every read.
 */
export class DiskStore implements TierStore {
  readonly life = 0;
  readonly #folder: string;
  readonly #writeFile: typeof writeFile;
  /** Names of the files by digest. */
  readonly #names = new Map<string, string>();
  /** Files that are read by their path, whose digest was checked in this run. */
  readonly #checked = new Set<string>();

  /** `write` replaces the file system in tests of a full disk. */
  constructor(folder: string, write: typeof writeFile = writeFile) {
    this.#folder = folder;
    this.#writeFile = write;
  }

  /** Lists the files of earlier runs, the least recently written first, and removes incomplete ones. */
  async scan(): Promise<TierEntry[]> {
    await mkdir(this.#folder, { recursive: true });
    const found: (TierEntry & { readonly writtenMs: number })[] = [];
    for (const name of await readdir(this.#folder)) {
      const [, hex] = FILE.exec(name) ?? [];
      const path = join(this.#folder, name);
      const key = `sha256:${hex}`;
      if (DRAFT.test(name) || this.#names.has(key)) await rm(path, { force: true });
      else if (name.startsWith(LINK_FOLDER)) await rm(path, { recursive: true, force: true });
      else if (name.endsWith(PARTIAL)) {
        if (Date.now() - (await stat(path)).mtimeMs > PARTIAL_MS) await rm(path, { force: true });
      } else if (hex !== undefined) {
        const { size, mtimeMs } = await stat(path);
        this.#names.set(key, name);
        found.push({ key, sizeBytes: size, writtenMs: mtimeMs });
      }
    }
    return found.toSorted((a, b) => a.writtenMs - b.writtenMs);
  }

  sizeOf(sizeBytes: number): number {
    return sizeBytes;
  }

  async read(digest: string): Promise<Uint8Array | null> {
    const name = this.#names.get(digest);
    if (name === undefined) return null;
    const bytes = await this.#readWhole(name).catch(() => null);
    if (bytes !== null && hasDigest(bytes, digest)) return bytes;
    await this.drop(digest);
    return null;
  }

  async write(digest: string, bytes: Uint8Array): Promise<number | null> {
    const packed = await compress(bytes, PARAMS);
    const isWorthIt = packed.byteLength <= bytes.byteLength * WORTH_IT;
    const name = isWorthIt ? `${hexOf(digest)}${SUFFIX}` : hexOf(digest);
    const content = isWorthIt ? packed : bytes;
    try {
      await writeWhole(join(this.#folder, name), content, { write: this.#writeFile });
    } catch (error) {
      if (FULL.has((error as NodeJS.ErrnoException).code ?? "")) return null;
      throw error;
    }
    this.#names.set(digest, name);
    return content.byteLength;
  }

  /** Where a file is put together that then becomes this digest's by `adopt`. */
  partialPathOf(digest: string): string {
    return join(this.#folder, `${hexOf(digest)}${PARTIAL}`);
  }

  /** Removes what arrived of a file. */
  async dropPartial(digest: string): Promise<void> {
    await rm(this.partialPathOf(digest), { force: true });
  }

  /** Removes what arrived of all other files. */
  async keepPartials(digests: ReadonlySet<string>): Promise<void> {
    const kept = new Set(Array.from(digests, (digest) => `${hexOf(digest)}${PARTIAL}`));
    for (const name of await readdir(this.#folder)) {
      if (name.endsWith(PARTIAL) && !kept.has(name)) await rm(join(this.#folder, name), { force: true });
    }
  }

  /** Takes over the complete file at `partialPathOf`, whose digest was checked; returns its size. */
  async adopt(digest: string): Promise<number> {
    const name = hexOf(digest);
    const path = join(this.#folder, name);
    await rename(this.partialPathOf(digest), path);
    this.#names.set(digest, name);
    this.#checked.add(digest);
    return (await stat(path)).size;
  }

  /**
   * Path of a file that stands as it is; its digest is checked once a run, piece by piece. Null where it is absent,
   * compressed or damaged; then it is gone.
   */
  async pathOf(digest: string): Promise<string | null> {
    const name = this.#names.get(digest);
    if (name === undefined) return null;
    const path = join(this.#folder, name);
    if (this.#checked.has(digest)) return path;
    if (name.endsWith(SUFFIX) || !(await hasFileDigest(path, digest).catch(() => false))) {
      await this.drop(digest);
      return null;
    }
    this.#checked.add(digest);
    return path;
  }

  async drop(digest: string): Promise<void> {
    const name = this.#names.get(digest);
    this.#checked.delete(digest);
    this.#names.delete(digest);
    if (name !== undefined) await rm(join(this.#folder, name), { force: true });
  }

  async #readWhole(name: string): Promise<Uint8Array> {
    const content = await readFile(join(this.#folder, name));
    const isPacked = name.endsWith(SUFFIX);
    const { buffer, byteOffset, byteLength } = isPacked ? await decompress(content, UNPACKED_LIMIT) : content;
    return new Uint8Array(buffer, byteOffset, byteLength);
  }
}

function hexOf(digest: string): string {
  return digest.replace("sha256:", "");
}
