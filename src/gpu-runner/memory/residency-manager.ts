import type { MemoryReport, TierName } from "../../protocol/fleet/memory.ts";
import { MODEL_FILE, type ModelFile } from "../../protocol/models/upload.ts";
import { ProblemError } from "../../protocol/wire/problem.ts";
import type { DeviceLogger } from "../device-host/device-child.ts";
import type { DeviceHost } from "../device-host/device-host.ts";
import { BackgroundWork } from "./background-work.ts";
import { DiskStore } from "./disk-store.ts";
import type { ModelContent, ModelPaths } from "../devices/ort/model-paths.ts";
import type { ArtifactSource, FileSource } from "../link/artifacts.ts";
import { GpuStore, HostStore, type TierStore } from "./tier-store.ts";
import type { MemoryBudgets } from "../config.ts";
import { MigrationTimes } from "./migration-times.ts";
import { Prefetcher } from "./prefetcher.ts";
import { Tier } from "./tier.ts";

export interface ResidencyOptions {
  readonly budgets: MemoryBudgets;
  /** Store of the disk tier. */
  readonly store: DiskStore;
  /** Final source of artifacts. */
  readonly source: ArtifactSource;
  /** The same of files that are too large for this process's memory. */
  readonly fileSource: FileSource;
  readonly devices: readonly Pick<DeviceHost, "device" | "work" | "restarts" | "pid" | "readPool">[];
  readonly logger: DeviceLogger;
}

/** Share of a device's budget that may stay resident between dispatches; the rest is for buffers of kernels. */
const RESIDENT_SHARE = 0.5;
/** A tier above `high` is emptied to `low` in the background, so that requests find room at once. */
const THRESHOLDS: Readonly<Partial<Record<TierName, { readonly high: number; readonly low: number }>>> = {
  gpu: { high: 0.95, low: 0.85 },
  disk: { high: 0.95, low: 0.9 },
};
/** Assumed size of an unknown item. */
const USUAL_BYTES = 2 ** 20;
/** Time after which a busy device is left out of a report. */
const POOL_LIMIT_MS = 500;

/**
 * Artifacts and weights by digest, in tiers: a GPU's buffers, this process's memory, the disk, and the edge, which has
 * them all. A request brings an artifact up from the cheapest source; evictions weigh the cost of bringing it back. It
 * outlives the devices' processes: their contents are forgotten with them and uploaded again on request.
 */
export class ResidencyManager {
  readonly #host: Tier;
  readonly #disk: Tier;
  readonly #gpus: ReadonlyMap<string, Tier>;
  readonly #devices: ResidencyOptions["devices"];
  readonly #source: ArtifactSource;
  readonly #fileSource: FileSource;
  readonly #store: DiskStore;
  readonly #logger: DeviceLogger;
  readonly #background: BackgroundWork;
  readonly #times = new MigrationTimes();
  readonly #edge = { hits: 0, failures: 0 };
  /** Transfers in progress, so that an artifact is brought once. */
  readonly #arriving = new Map<string, Promise<Uint8Array>>();
  readonly #arrivingFiles = new Map<string, Promise<string>>();
  /** Positions of items by digest, in the order of their first use; the input of access patterns. */
  readonly #positions = new Map<string, number>();
  readonly #digests: string[] = [];
  /** Uncompressed sizes of known items. */
  readonly #sizes = new Map<string, number>();
  readonly #stopping = new AbortController();
  /** Digests that must stay on the disk. */
  #kept = new Set<string>();

  private constructor({ budgets, store, source, fileSource, devices, logger }: ResidencyOptions) {
    this.#source = source;
    this.#fileSource = fileSource;
    this.#store = store;
    this.#logger = logger;
    const onError = (error: unknown) => logger.warn({ error: messageOf(error) }, "a migration failed");
    const { backgroundBytesPerSecond: bytesPerSecond, hostBytes: maxHeldBytes } = budgets;
    this.#background = new BackgroundWork({ bytesPerSecond, maxHeldBytes, onError });
    const tier = (name: TierName, deviceKey: string | null, capacityBytes: number, bytes: TierStore) => {
      const prefetcher = name === "disk" ? null : new Prefetcher();
      const onLeaving = (key: string, read: () => Promise<Uint8Array | null>) => {
        prefetcher?.lost(this.#positionOf(key));
        return this.#demote(name, key, read);
      };
      const isExpected = (key: string) => prefetcher?.isOpen(this.#positionOf(key)) ?? false;
      return new Tier({ name, deviceKey, capacityBytes, store: bytes, prefetcher, isExpected, onLeaving, onError });
    };
    this.#host = tier("host", null, budgets.hostBytes, new HostStore());
    this.#disk = tier("disk", null, budgets.diskBytes, store);
    this.#devices = devices.filter(({ device }) => device.backends.includes("wgsl"));
    const residentBytes = Math.floor(budgets.gpuBytes * RESIDENT_SHARE);
    this.#gpus = new Map(
      this.#devices.map((host) => [host.device.key, tier("gpu", host.device.key, residentBytes, new GpuStore(host))]),
    );
  }

  /**
   * Takes over the files of earlier runs, which are trimmed to the budget once it is known what to keep. An unreadable
   * disk does not prevent the start: everything comes from the edge then.
   */
  static async open(options: ResidencyOptions): Promise<ResidencyManager> {
    const { store, logger } = options;
    const manager = new ResidencyManager(options);
    const found = await store.scan().catch((error: unknown) => {
      logger.warn({ error: messageOf(error) }, "cannot read the folder of artifacts");
      return [];
    });
    for (const entry of found) {
      manager.#disk.index.restore(entry, manager.#times.expectedMs("edge", "host", entry.sizeBytes));
    }
    return manager;
  }

  /**
   * Sets the digests in use, in the expected order of their use, and those of large files: they must stay on the disk.
   */
  async keepOnly(digests: readonly string[], files: readonly string[] = []): Promise<void> {
    for (const digest of this.#kept) this.#disk.index.unpin(digest);
    this.#kept = new Set();
    for (const digest of digests) this.keep(digest);
    for (const digest of files) this.#pin(digest);
    // The budget does not count what arrived of files that nobody waits for.
    await this.#store
      .keepPartials(new Set([...files, ...this.#arrivingFiles.keys()]))
      .catch((error: unknown) => this.#logger.warn({ error: messageOf(error) }, "cannot read the folder of artifacts"));
    await this.#disk.trim(this.#disk.index.capacityBytes);
  }

  /** Adds a digest that must stay on the disk. */
  keep(digest: string): void {
    this.#positionOf(digest);
    this.#pin(digest);
  }

  #pin(digest: string): void {
    this.#kept.add(digest);
    if (this.#disk.has(digest) && !this.#disk.index.pin(digest)) {
      this.#logger.warn({ digest }, "the disk's budget is too small for the artifacts in use");
    }
  }

  /**
   * Bytes of an artifact from the nearest tier that has them; not to be written to. With `files` it is a large model:
   * then these are brought to the disk, to stay there, and read from their paths. Throws the edge's errors.
   */
  read(digest: string): Promise<Uint8Array>;
  read(digest: string, files: readonly ModelFile[] | undefined): Promise<ModelContent>;
  async read(digest: string, files?: readonly ModelFile[]): Promise<ModelContent> {
    if (files !== undefined) return this.#openFiles(files);
    const bytes = await this.#host.read(digest);
    this.#noteUse(this.#host, digest, bytes !== null);
    return bytes ?? this.#bring(digest);
  }

  /** Keeps an artifact that was made here, so that it need not be fetched; it can be evicted like any other. */
  async add(digest: string, bytes: Uint8Array): Promise<void> {
    this.#positionOf(digest);
    this.#sizes.set(digest, bytes.byteLength);
    await this.#host.write(digest, bytes, this.#costMs(this.#host, digest));
    this.#writeBehind(digest, bytes);
  }

  /**
   * Works with an artifact that is resident on a device under its digest, uploaded first where it is absent. It stays
   * until the work has ended. Fails with `out-of-memory` where there is no room.
   */
  async useOnDevice<Value>(digest: string, deviceKey: string, work: () => Promise<Value>): Promise<Value> {
    const tier = this.#gpus.get(deviceKey);
    if (tier === undefined) throw new ProblemError("backend-failed", `This runner has no GPU ${deviceKey}.`);
    this.#noteUse(tier, digest, tier.has(digest));
    const letGo = tier.index.hold(digest) ?? (await this.#upload(tier, digest));
    if (letGo === null)
      throw new ProblemError("out-of-memory", `${digest} does not fit beside the artifacts in use on ${deviceKey}`);
    return work().finally(letGo);
  }

  /** Contents and statistics of the tiers. */
  async report(): Promise<MemoryReport> {
    const pools = this.#devices.map(async (host) => ({
      deviceKey: host.device.key,
      counters: await host.readPool(AbortSignal.timeout(POOL_LIMIT_MS)).catch(() => null),
    }));
    const local = [...this.#gpus.values(), this.#host, this.#disk].map((tier) => tier.report());
    const none = { usedBytes: 0, items: 0, pinnedItems: 0, pinnedBytes: 0, evictions: 0, refusals: 0 };
    const edge = { tier: "edge", deviceKey: null, capacityBytes: null, ...none, misses: 0, ...this.#edge } as const;
    return {
      tiers: [...local, { ...edge, prefetch: null }],
      pools: await Promise.all(pools),
      migrations: this.#times.report(),
      background: this.#background.report(),
    };
  }

  /** Counters since the start: evictions for lack of room, and bytes moved between tiers. */
  counters(): { pageOuts: number; migrationBytes: number } {
    const tiers = [...this.#gpus.values(), this.#host, this.#disk];
    return {
      pageOuts: tiers.reduce((sum, { evictions }) => sum + evictions, 0),
      migrationBytes: this.#times.report().reduce((sum, { bytes }) => sum + bytes, 0),
    };
  }

  /** Settles when no background work is left. */
  idle(): Promise<void> {
    return this.#background.idle();
  }

  /** Ends background work and every download. */
  stop(): Promise<void> {
    this.#stopping.abort();
    return this.#background.stop();
  }

  async #openFiles(files: readonly ModelFile[]): Promise<ModelPaths> {
    const data: Record<string, string> = {};
    let own = "";
    for (const file of files) {
      this.#pin(file.digest);
      const arriving = this.#arrivingFiles.get(file.digest) ?? this.#bringFile(file);
      this.#arrivingFiles.set(file.digest, arriving);
      const path = await arriving.finally(() => this.#arrivingFiles.delete(file.digest));
      if (file.name === MODEL_FILE) own = path;
      else data[file.name] = path;
    }
    return { own, data };
  }

  /** Brings a file to the disk without its bytes being in this process's memory; returns its path. */
  async #bringFile({ digest, sizeBytes }: ModelFile): Promise<string> {
    const { index } = this.#disk;
    const known = this.#disk.has(digest) ? await this.#store.pathOf(digest) : null;
    this.#disk.count(known !== null);
    if (known !== null) {
      index.touch(digest, this.#costMs(this.#disk, digest));
      return known;
    }
    index.remove(digest);
    this.#sizes.set(digest, sizeBytes);
    await this.#disk.trim(Math.max(0, index.capacityBytes - sizeBytes));
    if (index.usedBytes + sizeBytes > index.capacityBytes) throw noRoom(sizeBytes, index.capacityBytes);
    await this.#downloadFile(digest, sizeBytes);
    const put = () => this.#store.adopt(digest);
    const letGo = await this.#disk.placeHeld(digest, sizeBytes, this.#costMs(this.#disk, digest), put, { must: true });
    if (letGo === null) {
      await this.#store.dropPartial(digest);
      throw noRoom(sizeBytes, index.capacityBytes);
    }
    this.#pin(digest);
    letGo();
    const path = await this.#store.pathOf(digest);
    if (path === null) throw new ProblemError("backend-failed", `The file ${digest} was removed from the disk.`);
    return path;
  }

  async #downloadFile(digest: string, sizeBytes: number): Promise<void> {
    const startedMs = performance.now();
    try {
      await this.#fileSource({ digest, sizeBytes }, this.#store.partialPathOf(digest), this.#stopping.signal);
      this.#edge.hits++;
      this.#times.note("edge", "host", sizeBytes, performance.now() - startedMs);
    } catch (error) {
      this.#edge.failures++;
      if (error instanceof ProblemError && error.problem.code === "not-found") await this.#store.dropPartial(digest);
      throw error;
    }
  }

  /** Brings an artifact into this process's memory, once for all waiting callers. */
  #bring(digest: string): Promise<Uint8Array> {
    const arriving = this.#arriving.get(digest) ?? this.#fetch(digest).finally(() => this.#arriving.delete(digest));
    this.#arriving.set(digest, arriving);
    return arriving;
  }

  async #fetch(digest: string): Promise<Uint8Array> {
    const local = await this.#readNearest(digest);
    const bytes = local ?? (await this.#download(digest));
    this.#sizes.set(digest, bytes.byteLength);
    await this.#host.write(digest, bytes, this.#costMs(this.#host, digest), { must: true });
    if (local === null) this.#writeBehind(digest, bytes);
    return bytes;
  }

  /** Reads from the disk or a GPU, whichever is expected to be faster; null where no tier here has it. */
  async #readNearest(digest: string): Promise<Uint8Array | null> {
    const sizeBytes = this.#sizeOf(digest);
    const costMs = ({ name }: Tier) => this.#times.expectedMs(name, "host", sizeBytes);
    const sources = [this.#disk, ...this.#gpus.values()].filter((tier) => tier.has(digest));
    if (!sources.includes(this.#disk)) this.#disk.count(false);
    for (const source of sources.toSorted((a, b) => costMs(a) - costMs(b))) {
      const startedMs = performance.now();
      // A dead device or an unreadable file is no failure: the next source has it too.
      const bytes = await source.read(digest).catch(() => null);
      if (source === this.#disk) source.count(bytes !== null);
      if (bytes === null) continue;
      this.#times.note(source.name, "host", bytes.byteLength, performance.now() - startedMs);
      source.index.touch(digest, this.#costMs(source, digest));
      return bytes;
    }
    return null;
  }

  async #download(digest: string): Promise<Uint8Array> {
    const startedMs = performance.now();
    try {
      const bytes = await this.#source(digest, this.#stopping.signal);
      this.#edge.hits++;
      this.#times.note("edge", "host", bytes.byteLength, performance.now() - startedMs);
      return bytes;
    } catch (error) {
      this.#edge.failures++;
      throw error;
    }
  }

  #writeBehind(digest: string, bytes: Uint8Array): void {
    const write = async () => {
      const must = this.#kept.has(digest);
      const startedMs = performance.now();
      const stored = await this.#disk.write(digest, bytes, this.#costMs(this.#disk, digest), { must });
      if (stored) this.#times.note("host", "disk", bytes.byteLength, performance.now() - startedMs);
      else this.#logger.warn({ digest }, "an artifact finds no room on the disk");
      if (this.#kept.has(digest)) this.keep(digest);
      this.#relieve(this.#disk);
    };
    this.#background.add(bytes.byteLength, write, bytes.byteLength);
  }

  /** Uploads to the device, and returns the release function; null where there is no room. */
  async #upload(tier: Tier, digest: string): Promise<(() => void) | null> {
    const bytes = (await this.#host.read(digest)) ?? (await this.#bring(digest));
    const startedMs = performance.now();
    const letGo = await tier.writeHeld(digest, bytes, this.#costMs(tier, digest), { must: true });
    if (letGo !== null) this.#times.note("host", "gpu", bytes.byteLength, performance.now() - startedMs);
    this.#relieve(tier);
    return letGo;
  }

  /** Moves the last copy here one tier down when it leaves a tier, if there is room. */
  async #demote(from: TierName, digest: string, read: () => Promise<Uint8Array | null>): Promise<void> {
    const isElsewhere = this.#disk.has(digest) || (from === "gpu" && this.#host.has(digest));
    if (from === "disk" || isElsewhere) return;
    const startedMs = performance.now();
    const bytes = await read();
    if (bytes === null) return;
    if (from === "host") return this.#writeBehind(digest, bytes);
    this.#times.note("gpu", "host", bytes.byteLength, performance.now() - startedMs);
    await this.#host.write(digest, bytes, this.#costMs(this.#host, digest));
  }

  #relieve(tier: Tier): void {
    const threshold = THRESHOLDS[tier.name];
    const { usedBytes, capacityBytes } = tier.index;
    if (threshold === undefined || usedBytes <= threshold.high * capacityBytes) return;
    this.#background.add(0, () => tier.trim(threshold.low * capacityBytes));
  }

  /** Counts a use of a tier, and prefetches according to its pattern. */
  #noteUse(tier: Tier, digest: string, hit: boolean): void {
    const { prefetcher } = tier;
    const position = this.#positionOf(digest);
    tier.count(hit);
    if (hit) tier.index.touch(digest, this.#costMs(tier, digest), { isFirst: prefetcher?.isOpen(position) ?? false });
    for (const next of prefetcher?.note(position, this.#digests.length) ?? []) this.#prefetch(tier, next);
  }

  #prefetch(tier: Tier, position: number): void {
    const digest = this.#digests[position];
    if (digest === undefined || tier.has(digest)) return;
    tier.prefetcher?.issued(position);
    const isQueued = this.#background.add(this.#sizeOf(digest), async () => {
      if (tier.has(digest)) return;
      try {
        if (tier === this.#host) await this.#bring(digest);
        else {
          const letGo = await this.#upload(tier, digest);
          if (letGo === null) tier.prefetcher?.lost(position);
          letGo?.();
        }
      } catch (error) {
        tier.prefetcher?.lost(position);
        throw error;
      }
    });
    if (!isQueued) tier.prefetcher?.lost(position);
  }

  /** Expected milliseconds to bring an item back into a tier from a lower one. */
  #costMs({ name }: Tier, digest: string): number {
    const sizeBytes = this.#sizeOf(digest);
    const fromBelow = (tier: TierName) => this.#times.expectedMs(tier, "host", sizeBytes);
    const intoHostMs = name !== "disk" && this.#disk.has(digest) ? fromBelow("disk") : fromBelow("edge");
    if (name !== "gpu") return intoHostMs;
    return this.#times.expectedMs("host", "gpu", sizeBytes) + (this.#host.has(digest) ? 0 : intoHostMs);
  }

  #sizeOf(digest: string): number {
    return this.#sizes.get(digest) ?? this.#disk.index.sizeOf(digest) ?? USUAL_BYTES;
  }

  #positionOf(digest: string): number {
    const known = this.#positions.get(digest);
    if (known !== undefined) return known;
    const position = this.#digests.push(digest) - 1;
    this.#positions.set(digest, position);
    return position;
  }
}

function noRoom(sizeBytes: number, capacityBytes: number): ProblemError {
  const detail = `A file of ${sizeBytes} bytes finds no room beside the files in use: the disk's budget is ${capacityBytes} bytes.`;
  return new ProblemError("out-of-memory", detail);
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
