import type { MemoryTier, TierName } from "../../protocol/fleet/memory.ts";
import type { Prefetcher } from "./prefetcher.ts";
import { type TierEntry, TierIndex } from "./tier-index.ts";
import type { TierStore } from "./tier-store.ts";

export interface TierOptions {
  readonly name: TierName;
  readonly deviceKey: string | null;
  readonly capacityBytes: number;
  readonly store: TierStore;
  /** Prefetcher into this tier; null for none. */
  readonly prefetcher: Prefetcher | null;
  /** Whether an item was prefetched and is still unused. */
  readonly isExpected: (key: string) => boolean;
  /** Called before an item leaves, with a reader of its bytes while they are still here. */
  readonly onLeaving: (key: string, read: () => Promise<Uint8Array | null>) => Promise<void>;
  readonly onError: (error: unknown) => void;
}

/** A tier: its bytes, its evictions, and its statistics. Work on the same item is done in turn. */
export class Tier {
  readonly index: TierIndex;
  readonly #options: TierOptions;
  readonly #turns = new Map<string, Promise<unknown>>();
  readonly #counters = { hits: 0, misses: 0, evictions: 0, refusals: 0, failures: 0 };
  #life: number;

  constructor(options: TierOptions) {
    this.#options = options;
    this.index = new TierIndex(options.capacityBytes, options.isExpected);
    this.#life = options.store.life;
  }

  get name(): TierName {
    return this.#options.name;
  }

  get deviceKey(): string | null {
    return this.#options.deviceKey;
  }

  /** Items evicted for lack of room. */
  get evictions(): number {
    return this.#counters.evictions;
  }

  get prefetcher(): Prefetcher | null {
    return this.#options.prefetcher;
  }

  has(key: string): boolean {
    this.#noticeLoss();
    return this.index.has(key);
  }

  /** Counts a hit or a miss. */
  count(hit: boolean): void {
    if (hit) this.#counters.hits++;
    else this.#counters.misses++;
  }

  /** Bytes of an item; null where it is absent, or no longer here. */
  read(key: string): Promise<Uint8Array | null> {
    if (!this.has(key)) return Promise.resolve(null);
    // Held from now on, so that it is not evicted during its wait.
    const letGo = this.index.hold(key);
    return this.#inTurn(key, async () => {
      const bytes = await this.#options.store.read(key).finally(letGo);
      if (bytes === null && this.index.has(key)) {
        this.#counters.failures++;
        this.index.remove(key);
      }
      return bytes;
    });
  }

  /**
   * Stores an item, and evicts others for it. False where it may not replace them, or where the store is full after
   * all, as on a disk that others fill. With `must` it is not weighed against others.
   */
  async write(key: string, bytes: Uint8Array, costMs: number, options: { must?: boolean } = {}): Promise<boolean> {
    const letGo = await this.writeHeld(key, bytes, costMs, options);
    letGo?.();
    return letGo !== null;
  }

  /** Like `write`, but the item stays until the returned function is called; null where it is not stored. */
  writeHeld(
    key: string,
    bytes: Uint8Array,
    costMs: number,
    options: { must?: boolean } = {},
  ): Promise<(() => void) | null> {
    const { store } = this.#options;
    return this.placeHeld(key, store.sizeOf(bytes.byteLength), costMs, () => store.write(key, bytes), options);
  }

  /** The same of an item that `put` brings into the store; it gives the item's size there, or null where that is full. */
  placeHeld(
    key: string,
    sizeBytes: number,
    costMs: number,
    put: () => Promise<number | null>,
    { must = false }: { must?: boolean } = {},
  ): Promise<(() => void) | null> {
    return this.#inTurn(key, async () => {
      if (this.has(key)) return this.index.hold(key);
      const admission = this.index.admit({ key, sizeBytes }, costMs, { must });
      if (!admission.admitted) {
        this.#counters.refusals++;
        return null;
      }
      const letGo = this.index.hold(key);
      try {
        await this.#evict(admission.victims);
        if (await this.#store(key, sizeBytes, costMs, put)) return this.index.hold(key);
        this.index.remove(key);
        return null;
      } catch (error) {
        this.#counters.failures++;
        this.index.remove(key);
        throw error;
      } finally {
        letGo?.();
      }
    });
  }

  /** Evicts the least valuable items until `targetBytes` or less are used. */
  async trim(targetBytes: number): Promise<void> {
    this.#noticeLoss();
    await this.#evict(this.index.trim(targetBytes));
  }

  report(): MemoryTier {
    this.#noticeLoss();
    const { name: tier, deviceKey, prefetcher } = this.#options;
    const { capacityBytes, usedBytes, items, pinnedItems, pinnedBytes } = this.index;
    const state = { tier, deviceKey, capacityBytes, usedBytes, items, pinnedItems, pinnedBytes, ...this.#counters };
    if (prefetcher === null) return { ...state, prefetch: null };
    const { pattern, confidence, depth, counters } = prefetcher;
    const judged = counters.useful + counters.wrong;
    const accuracy = judged === 0 ? null : counters.useful / judged;
    return { ...state, prefetch: { pattern, confidence, depth, ...counters, accuracy } };
  }

  /** Writes; where the store is full despite the index, evicts others and tries once more. */
  async #store(key: string, sizeBytes: number, costMs: number, put: () => Promise<number | null>): Promise<boolean> {
    let storedBytes = await put();
    if (storedBytes === null) {
      await this.#evict(this.index.trim(this.index.usedBytes - sizeBytes));
      storedBytes = await put();
    }
    if (storedBytes === null) {
      this.#counters.failures++;
      return false;
    }
    // Another operation may have noticed the loss of the earlier contents: this one belongs to the new life.
    this.#noticeLoss();
    if (!this.index.has(key)) this.index.restore({ key, sizeBytes }, costMs);
    this.index.shrink(key, storedBytes);
    return true;
  }

  /** Drops the bytes of items that left the index already, whatever fails. */
  async #evict(victims: readonly TierEntry[]): Promise<void> {
    const { store, onLeaving, onError } = this.#options;
    for (const { key } of victims) {
      this.#counters.evictions++;
      await this.#inTurn(key, async () => {
        // It may have been brought back while it waited for its turn.
        if (this.index.has(key)) return;
        await onLeaving(key, () => store.read(key)).catch(onError);
        await store.drop(key);
      }).catch(onError);
    }
  }

  /** Forgets everything where it was lost since the last look. */
  #noticeLoss(): void {
    const { life } = this.#options.store;
    if (life === this.#life) return;
    this.#life = life;
    this.index.clear();
  }

  #inTurn<Value>(key: string, work: () => Promise<Value>): Promise<Value> {
    const turn = (this.#turns.get(key) ?? Promise.resolve()).then(work);
    const settled = turn.then(
      () => undefined,
      () => undefined,
    );
    this.#turns.set(key, settled);
    void settled.then(() => this.#turns.get(key) === settled && this.#turns.delete(key));
    return turn;
  }
}
