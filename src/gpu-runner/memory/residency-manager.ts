import type { MemoryReport, TierName } from "../../protocol/fleet/memory.ts";
import { ProblemError } from "../../protocol/wire/problem.ts";
import type { DeviceLogger } from "../device-host/device-child.ts";
import type { DeviceHost } from "../device-host/device-host.ts";
import { BackgroundWork } from "./background-work.ts";
import { DiskStore } from "./disk-store.ts";
import type { ArtifactSource } from "../link/artifacts.ts";
import { GpuStore, HostStore, type TierStore } from "./tier-store.ts";
import type { MemoryBudgets } from "../config.ts";
import { MigrationTimes } from "./migration-times.ts";
import { Prefetcher } from "./prefetcher.ts";
import { Tier } from "./tier.ts";

export interface ResidencyOptions {
  readonly budgets: MemoryBudgets;
  /** Where the disk tier keeps its files. */
  readonly store: DiskStore;
  /** Where artifacts come from in the end. */
  readonly source: ArtifactSource;
  readonly devices: readonly Pick<DeviceHost, "device" | "work" | "restarts" | "pid" | "readPool">[];
  readonly logger: DeviceLogger;
}

/** Of a device's budget, what may be resident between dispatches; the rest is for the buffers of kernels. */
const RESIDENT_SHARE = 0.5;
/** A tier that is fuller than `high` is emptied to `low` behind requests, which then find room at once. */
const THRESHOLDS: Readonly<Partial<Record<TierName, { readonly high: number; readonly low: number }>>> = {
  gpu: { high: 0.95, low: 0.85 },
  disk: { high: 0.95, low: 0.9 },
};
/** Taken for the size of an item that was never seen. */
const USUAL_BYTES = 2 ** 20;
/** A device that is busy for longer is left out of a report. */
const POOL_LIMIT_MS = 500;

/**
 * Artifacts and weights by digest, in tiers: a GPU's buffers, this process's memory, the disk, and the
 * edge, which has them all. Asked for one, it brings it up from wherever that is cheapest; what a tier has
 * no room for leaves it by what bringing it back would cost. It outlives the devices' processes: what they
 * held is forgotten with them and uploaded again when it is asked for.
 */
export class ResidencyManager {
  readonly #host: Tier;
  readonly #disk: Tier;
  readonly #gpus: ReadonlyMap<string, Tier>;
  readonly #devices: ResidencyOptions["devices"];
  readonly #source: ArtifactSource;
  readonly #logger: DeviceLogger;
  readonly #background: BackgroundWork;
  readonly #times = new MigrationTimes();
  readonly #edge = { hits: 0, failures: 0 };
  /** What is on its way up, so that it is brought once. */
  readonly #arriving = new Map<string, Promise<Uint8Array>>();
  /** Positions of items by digest, in the order in which they became known: what patterns are told from. */
  readonly #positions = new Map<string, number>();
  readonly #digests: string[] = [];
  /** Plain sizes of what was seen. */
  readonly #sizes = new Map<string, number>();
  readonly #stopping = new AbortController();
  /** What may not leave the disk. */
  #kept = new Set<string>();

  private constructor({ budgets, store, source, devices, logger }: ResidencyOptions) {
    this.#source = source;
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
   * Takes over what earlier runs left on the disk. It is trimmed to its budget once it is known what to keep.
   * A disk that cannot be read is no reason not to start: everything comes from the edge then.
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

  /** Says what is in use from now on: it may not leave the disk. Their order is the one in which they are expected. */
  async keepOnly(digests: readonly string[]): Promise<void> {
    for (const digest of this.#kept) this.#disk.index.unpin(digest);
    this.#kept = new Set();
    for (const digest of digests) this.keep(digest);
    await this.#disk.trim(this.#disk.index.capacityBytes);
  }

  /** Adds to what may not leave the disk. */
  keep(digest: string): void {
    this.#positionOf(digest);
    this.#kept.add(digest);
    if (this.#disk.has(digest) && !this.#disk.index.pin(digest)) {
      this.#logger.warn({ digest }, "the disk's budget is too small for what is in use");
    }
  }

  /** The bytes of an artifact, from the nearest tier that has them; not to be written to. Throws what the edge answers. */
  async read(digest: string): Promise<Uint8Array> {
    const bytes = await this.#host.read(digest);
    this.#noteUse(this.#host, digest, bytes !== null);
    return bytes ?? this.#bring(digest);
  }

  /** Keeps an artifact that was made here, so that it need not be fetched; it may leave again like any other. */
  async add(digest: string, bytes: Uint8Array): Promise<void> {
    this.#positionOf(digest);
    this.#sizes.set(digest, bytes.byteLength);
    await this.#host.write(digest, bytes, this.#costMs(this.#host, digest));
    this.#writeBehind(digest, bytes);
  }

  /**
   * Works with an artifact that lies on a device under its digest, uploaded first where it is not there.
   * It stays until the work has ended. Fails with `out-of-memory` where it cannot be given room.
   */
  async useOnDevice<Value>(digest: string, deviceKey: string, work: () => Promise<Value>): Promise<Value> {
    const tier = this.#gpus.get(deviceKey);
    if (tier === undefined) throw new ProblemError("backend-failed", `This runner has no GPU ${deviceKey}.`);
    this.#noteUse(tier, digest, tier.has(digest));
    const letGo = tier.index.hold(digest) ?? (await this.#upload(tier, digest));
    if (letGo === null)
      throw new ProblemError("out-of-memory", `${digest} does not fit beside what is in use on ${deviceKey}`);
    return work().finally(letGo);
  }

  /** What lies where, and how it served. */
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

  /** Since the start: items that left a tier here for want of room, and bytes that went from tier to tier. */
  counters(): { pageOuts: number; migrationBytes: number } {
    const tiers = [...this.#gpus.values(), this.#host, this.#disk];
    return {
      pageOuts: tiers.reduce((sum, { evictions }) => sum + evictions, 0),
      migrationBytes: this.#times.report().reduce((sum, { bytes }) => sum + bytes, 0),
    };
  }

  /** Settles when nothing moves behind requests. */
  idle(): Promise<void> {
    return this.#background.idle();
  }

  /** Ends what moves behind requests, and every download. */
  stop(): Promise<void> {
    this.#stopping.abort();
    return this.#background.stop();
  }

  /** Brings an artifact into this process's memory, once for all who wait for it. */
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

  /** From the disk or a GPU, whichever is expected to be faster; null where no tier here has it. */
  async #readNearest(digest: string): Promise<Uint8Array | null> {
    const sizeBytes = this.#sizeOf(digest);
    const costMs = ({ name }: Tier) => this.#times.expectedMs(name, "host", sizeBytes);
    const sources = [this.#disk, ...this.#gpus.values()].filter((tier) => tier.has(digest));
    if (!sources.includes(this.#disk)) this.#disk.count(false);
    for (const source of sources.toSorted((a, b) => costMs(a) - costMs(b))) {
      const startedMs = performance.now();
      // A device that dies, or a file that cannot be read, is no reason to fail: the next source has it, too.
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

  /** Lays it on the device, and gives what lets it go again; null where it has no room there. */
  async #upload(tier: Tier, digest: string): Promise<(() => void) | null> {
    const bytes = (await this.#host.read(digest)) ?? (await this.#bring(digest));
    const startedMs = performance.now();
    const letGo = await tier.writeHeld(digest, bytes, this.#costMs(tier, digest), { must: true });
    if (letGo !== null) this.#times.note("host", "gpu", bytes.byteLength, performance.now() - startedMs);
    this.#relieve(tier);
    return letGo;
  }

  /** What leaves a tier and would be the last copy here goes one tier down, unless there is no room either. */
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

  /** Counts a use of a tier, and fetches ahead what its pattern foretells. */
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

  /** Milliseconds that bringing an item back into a tier would take, from what lies below it now. */
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

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
