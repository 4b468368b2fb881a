import { AccessPattern, type Pattern } from "./access-pattern.ts";

const MAX_DEPTH = 4;
/** Useful prefetches that increase the depth by one. */
const USEFUL_TO_DEEPEN = 4;
/** Accesses without prefetches after the depth has fallen to zero. */
const REST = 32;
/** Accesses after which an unused prefetch counts as wrong. */
const PATIENCE = 32;

/** Counters of a prefetcher; `useful + wrong` lags behind `issued` by the open ones. */
export interface PrefetchCounters {
  readonly issued: number;
  /** Accessed before it was lost. */
  readonly useful: number;
  /** Evicted, failed, or not requested in time. */
  readonly wrong: number;
}

/**
 * Decides what to prefetch for a stream of accesses. The depth follows the usefulness of earlier prefetches: four
 * useful ones increase it by one, a wrong one halves it, and at zero it pauses. Pure: its clock is the count of
 * accesses.
 * Source: Srinath et al., "Feedback Directed Prefetching", HPCA 2007.
 */
export class Prefetcher {
  readonly #accesses = new AccessPattern();
  /** Positions in transfer or unused, with the access at which they were issued. */
  readonly #open = new Map<number, number>();
  #counters = { issued: 0, useful: 0, wrong: 0 };
  #now = 0;
  #depth = 1;
  #usefulInARow = 0;
  #restsUntil = 0;
  #pattern: Pattern | null = null;
  #confidence = 0;

  get counters(): PrefetchCounters {
    return { ...this.#counters };
  }

  /** Pattern of the last access; null without one. */
  get pattern(): Pattern | null {
    return this.#pattern;
  }

  get confidence(): number {
    return this.#confidence;
  }

  get depth(): number {
    return this.#depth;
  }

  /** Whether a position was prefetched and not accessed yet. */
  isOpen(position: number): boolean {
    return this.#open.has(position);
  }

  /** Records an access; returns the positions below `count` to fetch now. */
  note(position: number, count: number): number[] {
    this.#now++;
    if (this.#open.delete(position)) this.#wasUseful();
    for (const [open, issuedAt] of this.#open) if (this.#now - issuedAt > PATIENCE) this.#wasWrong(open);
    if (this.#depth === 0 && this.#now >= this.#restsUntil) this.#depth = 1;
    this.#accesses.note(position);
    const prediction = this.#accesses.predict(Math.max(1, this.#depth));
    this.#pattern = prediction?.pattern ?? null;
    this.#confidence = prediction?.confidence ?? 0;
    const wanted = this.#depth === 0 ? [] : (prediction?.positions ?? []);
    return wanted.filter((next) => next >= 0 && next < count && next !== position && !this.#open.has(next));
  }

  /** Records that a position is being fetched. */
  issued(position: number): void {
    this.#counters.issued++;
    this.#open.set(position, this.#now);
  }

  /** Records that a position was evicted or could not be fetched; one that was used already does not count. */
  lost(position: number): void {
    if (this.#open.has(position)) this.#wasWrong(position);
  }

  #wasUseful(): void {
    this.#counters.useful++;
    this.#usefulInARow++;
    if (this.#usefulInARow < USEFUL_TO_DEEPEN || this.#depth === 0) return;
    this.#usefulInARow = 0;
    this.#depth = Math.min(MAX_DEPTH, this.#depth + 1);
  }

  #wasWrong(position: number): void {
    this.#open.delete(position);
    this.#counters.wrong++;
    this.#usefulInARow = 0;
    this.#depth = Math.floor(this.#depth / 2);
    if (this.#depth === 0) this.#restsUntil = this.#now + REST;
  }
}
