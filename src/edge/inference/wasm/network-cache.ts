/** Something that holds memory. */
interface Sized {
  readonly sizeBytes: number;
}

/** Cache with limits of bytes and of entries; the least recently used entry goes first. */
export class NetworkCache<Value extends Sized> {
  /** In the order of use, the latest last. */
  readonly #kept = new Map<string, Value>();
  readonly #maxBytes: number;
  readonly #maxCount: number;
  #usedBytes = 0;

  constructor(bounds: { readonly maxBytes: number; readonly maxCount: number }) {
    this.#maxBytes = bounds.maxBytes;
    this.#maxCount = bounds.maxCount;
  }

  get usedBytes(): number {
    return this.#usedBytes;
  }

  has(key: string): boolean {
    return this.#kept.has(key);
  }

  /** Value under a key, which becomes the latest used. */
  use(key: string): Value | null {
    const value = this.#kept.get(key);
    if (value === undefined) return null;
    this.#kept.delete(key);
    this.#kept.set(key, value);
    return value;
  }

  /** Adds a value and drops others until all are within the limits; a value beyond them alone is not kept. */
  keep(key: string, value: Value): void {
    this.drop(key);
    if (value.sizeBytes > this.#maxBytes) return;
    this.#kept.set(key, value);
    this.#usedBytes += value.sizeBytes;
    for (const oldest of this.#kept.keys()) {
      if (this.#usedBytes <= this.#maxBytes && this.#kept.size <= this.#maxCount) return;
      this.drop(oldest);
    }
  }

  drop(key: string): void {
    this.#usedBytes -= this.#kept.get(key)?.sizeBytes ?? 0;
    this.#kept.delete(key);
  }
}
