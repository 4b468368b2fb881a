import { AccessPattern, type Pattern } from "./access-pattern.ts";

const MAX_DEPTH = 4;
/** So many useful prefetches let it look one access further ahead. */
const USEFUL_TO_DEEPEN = 4;
/** After its depth has fallen to nothing it rests for so many accesses. */
const REST = 32;
/** A prefetch that no access has met within so many is counted as wrong. */
const PATIENCE = 32;

/** What a prefetcher did; `useful + wrong` trails `issued` by what is still open. */
export interface PrefetchCounters {
  readonly issued: number;
  /** Met by an access before it was lost. */
  readonly useful: number;
  /** Evicted, failed, or not asked for in time. */
  readonly wrong: number;
}

/**
 * Decides what to fetch ahead of a stream of accesses. How far ahead follows what earlier prefetches were
 * worth (Srinath et al., "Feedback Directed Prefetching", HPCA 2007): four useful ones deepen it by one,
 * a wrong one halves it, and at nothing it rests. Pure: its clock is the count of accesses.
 */
export class Prefetcher {
  readonly #accesses = new AccessPattern();
  /** Positions on their way or unused, with the access at which they were issued. */
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

  /** What it took the last access to belong to; null where it sees no pattern. */
  get pattern(): Pattern | null {
    return this.#pattern;
  }

  get confidence(): number {
    return this.#confidence;
  }

  get depth(): number {
    return this.#depth;
  }

  /** Whether a position was fetched ahead and no access has met it yet. */
  isOpen(position: number): boolean {
    return this.#open.has(position);
  }

  /** Takes an access; gives the positions below `count` to fetch now. */
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

  /** A position is being fetched. */
  issued(position: number): void {
    this.#counters.issued++;
    this.#open.set(position, this.#now);
  }

  /** A position was evicted or could not be fetched; one that was used by then is no loss. */
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
