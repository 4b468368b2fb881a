import type { Admission, TierEntry } from "../../src/gpu-runner/memory/tier-index.ts";

/** A cache that evicts the least recently used item, regardless of sizes, costs and patterns. */
export class LruCache<Value> {
  readonly #capacityBytes: number;
  /** In order of last use. */
  readonly #items = new Map<string, { readonly value: Value; readonly sizeBytes: number }>();
  #usedBytes = 0;

  constructor(capacityBytes: number) {
    this.#capacityBytes = capacityBytes;
  }

  get usedBytes(): number {
    return this.#usedBytes;
  }

  get(key: string): Value | undefined {
    const item = this.#items.get(key);
    if (item === undefined) return undefined;
    this.#items.delete(key);
    this.#items.set(key, item);
    return item.value;
  }

  /** Admits an item, and returns the evicted ones; an item larger than the cache is not admitted. */
  set(key: string, value: Value, sizeBytes: number): Admission {
    if (sizeBytes > this.#capacityBytes) return { admitted: false };
    const victims: TierEntry[] = [];
    this.#items.set(key, { value, sizeBytes });
    this.#usedBytes += sizeBytes;
    for (const [oldest, item] of this.#items) {
      if (this.#usedBytes <= this.#capacityBytes) break;
      this.#items.delete(oldest);
      this.#usedBytes -= item.sizeBytes;
      victims.push({ key: oldest, sizeBytes: item.sizeBytes });
    }
    return { admitted: true, victims };
  }
}
