/** An item of a tier as its index sees it. */
export interface TierEntry {
  readonly key: string;
  /** What it takes of the tier. */
  readonly sizeBytes: number;
}

interface Entry {
  sizeBytes: number;
  frequency: number;
  /** Milliseconds that bringing it back would take, as estimated when it was last used. */
  costMs: number;
  priority: number;
  /** May not leave whatever comes. */
  pinned: boolean;
  /** Users that need it to stay for the moment. */
  holds: number;
}

/** What an admission costs the others, or that it is not worth it. */
export type Admission = { readonly admitted: true; readonly victims: TierEntry[] } | { readonly admitted: false };

/**
 * What a tier holds, and who leaves it first: GreedyDual-Size-Frequency. The item of least priority goes,
 *
 *   priority = age + frequency · cost / size,
 *
 * and the age becomes the priority of whoever went last, so that what is not used any more falls behind
 * in the end (Cao and Irani, "Cost-Aware WWW Proxy Caching Algorithms", USITS 1997; with the frequency,
 * Cherkasova, HPL-98-69, 1998). The bytes themselves are elsewhere: this is bookkeeping without a clock.
 */
export class TierIndex {
  readonly capacityBytes: number;
  readonly #isExpected: (key: string) => boolean;
  readonly #entries = new Map<string, Entry>();
  #usedBytes = 0;
  #pinnedBytes = 0;
  #age = 0;

  /** What is expected to be used next leaves only where nothing else is left to leave. */
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

  /** Bytes that an item takes here; null where it is not here. */
  sizeOf(key: string): number | null {
    return this.#entries.get(key)?.sizeBytes ?? null;
  }

  /** Takes in what is there already, without asking whether it fits: `trim` makes it so. */
  restore({ key, sizeBytes }: TierEntry, costMs: number): void {
    this.remove(key);
    this.#add(key, sizeBytes, costMs);
  }

  /**
   * Makes room for an item and takes it in. Those who have to leave have left the index already; their
   * bytes are for the caller to drop. With `must`, the newcomer is weighed against nobody: it is refused
   * only where what is pinned or held leaves no room. Without, it is refused, too, where it is itself the
   * one of least priority.
   */
  admit({ key, sizeBytes }: TierEntry, costMs: number, { must = false }: { must?: boolean } = {}): Admission {
    this.remove(key);
    const missing = this.#usedBytes + sizeBytes - this.capacityBytes;
    const below = must ? Number.POSITIVE_INFINITY : this.#priorityOf(1, costMs, sizeBytes);
    const victims = missing > 0 ? this.#chooseVictims(missing, below) : [];
    if (victims === null) {
      // It came and was the first to go: without this nobody would ever age while newcomers are refused.
      if (sizeBytes <= this.capacityBytes && !must) this.#age = Math.max(this.#age, below);
      return { admitted: false };
    }
    for (const victim of victims) this.#evict(victim.key);
    this.#add(key, sizeBytes, costMs);
    return { admitted: true, victims };
  }

  /**
   * Counts a use; the first use of what was fetched ahead is the one that its admission counted already,
   * and `isFirst`.
   */
  touch(key: string, costMs: number, { isFirst = false }: { isFirst?: boolean } = {}): void {
    const entry = this.#entries.get(key);
    if (entry === undefined) return;
    if (!isFirst) entry.frequency++;
    entry.costMs = costMs;
    entry.priority = this.#priorityOf(entry.frequency, costMs, entry.sizeBytes);
  }

  /** Corrects a size, downwards only: what was admitted by its plain size may take less once it is stored. */
  shrink(key: string, sizeBytes: number): void {
    const entry = this.#entries.get(key);
    if (entry === undefined || sizeBytes >= entry.sizeBytes) return;
    const savedBytes = entry.sizeBytes - sizeBytes;
    this.#usedBytes -= savedBytes;
    if (entry.pinned) this.#pinnedBytes -= savedBytes;
    entry.sizeBytes = sizeBytes;
  }

  /** Sends away whoever is least worth keeping until `targetBytes` or less are used, or none may leave. */
  trim(targetBytes: number): TierEntry[] {
    const victims: TierEntry[] = [];
    for (const { rank: _, ...victim } of this.#inOrderOfLeaving()) {
      if (this.#usedBytes <= targetBytes) break;
      this.#evict(victim.key);
      victims.push(victim);
    }
    return victims;
  }

  /** False where it is not here, or where pinned items would then take more than the tier has. */
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
   * Keeps an item while it is worked with; gives what ends that, to be called once, or null where it is not
   * here. A hold is on this very entry: one that came back after a loss has its own.
   */
  hold(key: string): (() => void) | null {
    const entry = this.#entries.get(key);
    if (entry === undefined) return null;
    entry.holds++;
    return () => void entry.holds--;
  }

  /** Takes out what is gone or turned out to be damaged, pinned or not. */
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

  /** Enough items below a priority to free so many bytes; null where there are not enough. */
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
