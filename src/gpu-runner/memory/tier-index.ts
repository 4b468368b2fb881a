/** Item of a tier's index. */
export interface TierEntry {
  readonly key: string;
  /** Size in the tier. */
  readonly sizeBytes: number;
}

interface Entry {
  sizeBytes: number;
  frequency: number;
  /** Milliseconds to bring it back, as estimated at its last use. */
  costMs: number;
  priority: number;
  /** Whether it must stay in any case. */
  pinned: boolean;
  /** Number of users that need it at present. */
  holds: number;
}

/** Outcome of an admission: the evicted items, or a refusal. */
export type Admission = { readonly admitted: true; readonly victims: TierEntry[] } | { readonly admitted: false };

/**
 * Contents of a tier, and the order of evictions: GreedyDual-Size-Frequency. The item of least priority leaves first,
 * priority = age + frequency · cost / size. The age becomes the priority of the last evicted item, so that unused items
 * fall behind in the end. This is bookkeeping without bytes or a clock.
 * Source: Cao and Irani, "Cost-Aware WWW Proxy Caching Algorithms", USITS 1997; Cherkasova, HPL-98-69, 1998
 * (frequency).
 */
export class TierIndex {
  readonly capacityBytes: number;
  readonly #isExpected: (key: string) => boolean;
  readonly #entries = new Map<string, Entry>();
  #usedBytes = 0;
  #pinnedBytes = 0;
  #age = 0;

  /** Items that are expected next leave only where nothing else can. */
  constructor(capacityBytes: number, isExpected: (key: string) => boolean = () => false) {
    this.capacityBytes = capacityBytes;
    this.#isExpected = isExpected;
  }

  get usedBytes(): number {
    return this.#usedBytes;
  }

  get pinnedBytes(): number {
    return this.#pinnedBytes;
  }

  get items(): number {
    return this.#entries.size;
  }

  get pinnedItems(): number {
    let count = 0;
    for (const { pinned } of this.#entries.values()) if (pinned) count++;
    return count;
  }

  has(key: string): boolean {
    return this.#entries.has(key);
  }

  /** Size of an item here; null where it is absent. */
  sizeOf(key: string): number | null {
    return this.#entries.get(key)?.sizeBytes ?? null;
  }

  /** Takes in an existing item without a check of its size; `trim` enforces the capacity. */
  restore({ key, sizeBytes }: TierEntry, costMs: number): void {
    this.remove(key);
    this.#add(key, sizeBytes, costMs);
  }

  /**
   * Makes room for an item and takes it in. Evicted items have left the index already; the caller drops their bytes.
   * With `must`, the new item is refused only where pinned or held items leave no room. Without it, an item that would
   * have the least priority is refused too.
   */
  admit({ key, sizeBytes }: TierEntry, costMs: number, { must = false }: { must?: boolean } = {}): Admission {
    this.remove(key);
    const missing = this.#usedBytes + sizeBytes - this.capacityBytes;
    const below = must ? Number.POSITIVE_INFINITY : this.#priorityOf(1, costMs, sizeBytes);
    const victims = missing > 0 ? this.#chooseVictims(missing, below) : [];
    if (victims === null) {
      // A refused item counts as added and evicted: otherwise nothing would age while new items are refused.
      if (sizeBytes <= this.capacityBytes && !must) this.#age = Math.max(this.#age, below);
      return { admitted: false };
    }
    for (const victim of victims) this.#evict(victim.key);
    this.#add(key, sizeBytes, costMs);
    return { admitted: true, victims };
  }

  /** Counts a use. `isFirst`: first use of a prefetched item, which its admission counted already. */
  touch(key: string, costMs: number, { isFirst = false }: { isFirst?: boolean } = {}): void {
    const entry = this.#entries.get(key);
    if (entry === undefined) return;
    if (!isFirst) entry.frequency++;
    entry.costMs = costMs;
    entry.priority = this.#priorityOf(entry.frequency, costMs, entry.sizeBytes);
  }

  /** Corrects a size, downwards only: an item that was admitted by its plain size may be smaller once stored. */
  shrink(key: string, sizeBytes: number): void {
    const entry = this.#entries.get(key);
    if (entry === undefined || sizeBytes >= entry.sizeBytes) return;
    const savedBytes = entry.sizeBytes - sizeBytes;
    this.#usedBytes -= savedBytes;
    if (entry.pinned) this.#pinnedBytes -= savedBytes;
    entry.sizeBytes = sizeBytes;
  }

  /** Evicts the least valuable items until `targetBytes` or less are used, or none may leave. */
  trim(targetBytes: number): TierEntry[] {
    const victims: TierEntry[] = [];
    for (const { rank: _, ...victim } of this.#inOrderOfLeaving()) {
      if (this.#usedBytes <= targetBytes) break;
      this.#evict(victim.key);
      victims.push(victim);
    }
    return victims;
  }

  /** False where it is absent, or where pinned items would then exceed the tier. */
  pin(key: string): boolean {
    const entry = this.#entries.get(key);
    if (entry === undefined) return false;
    if (entry.pinned) return true;
    if (this.#pinnedBytes + entry.sizeBytes > this.capacityBytes) return false;
    entry.pinned = true;
    this.#pinnedBytes += entry.sizeBytes;
    return true;
  }

  unpin(key: string): void {
    const entry = this.#entries.get(key);
    if (entry === undefined || !entry.pinned) return;
    entry.pinned = false;
    this.#pinnedBytes -= entry.sizeBytes;
  }

  /**
   * Keeps an item during its use; returns the release function, to be called once, or null where it is absent. A hold
   * is on this entry: one that came back after a loss has its own.
   */
  hold(key: string): (() => void) | null {
    const entry = this.#entries.get(key);
    if (entry === undefined) return null;
    entry.holds++;
    return () => void entry.holds--;
  }

  /** Removes an item that is lost or damaged, pinned or not. */
  remove(key: string): void {
    const entry = this.#entries.get(key);
    if (entry === undefined) return;
    this.unpin(key);
    this.#usedBytes -= entry.sizeBytes;
    this.#entries.delete(key);
  }

  /** Forgets everything: the tier's memory was lost. */
  clear(): void {
    this.#entries.clear();
    this.#usedBytes = 0;
    this.#pinnedBytes = 0;
  }

  #add(key: string, sizeBytes: number, costMs: number): void {
    const priority = this.#priorityOf(1, costMs, sizeBytes);
    this.#entries.set(key, { sizeBytes, frequency: 1, costMs, priority, pinned: false, holds: 0 });
    this.#usedBytes += sizeBytes;
  }

  #evict(key: string): void {
    this.#age = Math.max(this.#age, this.#entries.get(key)?.priority ?? 0);
    this.remove(key);
  }

  #priorityOf(frequency: number, costMs: number, sizeBytes: number): number {
    return this.#age + (frequency * costMs) / Math.max(1, sizeBytes);
  }

  /** Enough items below a priority to free this many bytes; null where there are not enough. */
  #chooseVictims(missingBytes: number, below: number): TierEntry[] | null {
    const victims: TierEntry[] = [];
    let freedBytes = 0;
    for (const { rank, ...victim } of this.#inOrderOfLeaving()) {
      if (freedBytes >= missingBytes || rank > below) break;
      victims.push(victim);
      freedBytes += victim.sizeBytes;
    }
    return freedBytes >= missingBytes ? victims : null;
  }

  #inOrderOfLeaving(): (TierEntry & { readonly rank: number })[] {
    return [...this.#entries]
      .filter(([, { pinned, holds }]) => !pinned && holds === 0)
      .map(([key, { sizeBytes, priority }]) => {
        const rank = this.#isExpected(key) ? Number.MAX_VALUE : priority;
        return { key, sizeBytes, rank };
      })
      .toSorted((a, b) => a.rank - b.rank);
  }
}
