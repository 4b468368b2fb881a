/** Order of accesses; `sequential` is a stride of one. */
export type Pattern = "sequential" | "strided" | "temporal";

export interface Prediction {
  readonly pattern: Pattern;
  /** Share of the last accesses that this pattern would have predicted. */
  readonly confidence: number;
  /** Positions expected next, in order. */
  readonly positions: readonly number[];
}

/** Accesses over which a pattern's predictions are judged. */
const JUDGED = 8;
/**
 * At least five correct of the last eight. By chance that occurs once in 10⁵ to 10⁶ accesses among 32 items, more
 * rarely among more.
 */
const CONFIDENCE_THRESHOLD = 0.6;
/** Steps whose most common one is the stride; a single odd access does not change it. */
const STEPS = 8;
/** Pairs of accesses whose successor is remembered. */
const REMEMBERED = 4_096;

/**
 * Predicts the next accesses from the positions of earlier ones. Two predictors watch every access: a stride, and a
 * memory of the successors of the last two positions, which also covers periods. Each is trusted by its record on the
 * last accesses, whether or not its predictions were used. Neither predicts random accesses.
 * Source: McFarling, "Combining Branch Predictors", WRL TN-36, 1993 (the choice); Joseph and Grunwald, ISCA 1997
 * (Markov prefetcher, here with a context of two).
 */
export class AccessPattern {
  readonly #steps: number[] = [];
  readonly #successors = new Map<string, number>();
  readonly #records = { stride: [] as boolean[], temporal: [] as boolean[] };
  #before: number | null = null;
  #last: number | null = null;

  /** Records an access to a position. */
  note(position: number): void {
    judge(this.#records.stride, this.#nextByStride(1) === position);
    judge(this.#records.temporal, this.#nextByMemory(this.#before, this.#last) === position);
    if (this.#last !== null) keepLast(this.#steps, position - this.#last, STEPS);
    if (this.#before !== null && this.#last !== null) this.#remember(this.#before, this.#last, position);
    this.#before = this.#last;
    this.#last = position;
  }

  /** Up to `depth` positions that come next; null where no predictor is trusted. */
  predict(depth: number): Prediction | null {
    const stride = shareOf(this.#records.stride);
    const temporal = shareOf(this.#records.temporal);
    const confidence = Math.max(stride, temporal);
    if (confidence < CONFIDENCE_THRESHOLD) return null;
    if (temporal > stride) return { pattern: "temporal", confidence, positions: this.#followMemory(depth) };
    const pattern = this.#stride() === 1 ? "sequential" : "strided";
    const positions = Array.from({ length: depth }, (_, index) => this.#nextByStride(index + 1) ?? -1);
    return { pattern, confidence, positions: positions.filter((position) => position >= 0) };
  }

  #nextByStride(ahead: number): number | null {
    const step = this.#stride();
    return step === null || this.#last === null ? null : this.#last + ahead * step;
  }

  /** Most common of the last steps, the latest among equals; null before the first. */
  #stride(): number | null {
    const counts = new Map<number, number>();
    for (const step of this.#steps) counts.set(step, (counts.get(step) ?? 0) + 1);
    let best: number | null = null;
    for (const step of this.#steps) if ((counts.get(step) ?? 0) >= (counts.get(best ?? Number.NaN) ?? 0)) best = step;
    return best === 0 ? null : best;
  }

  #nextByMemory(before: number | null, last: number | null): number | null {
    return this.#successors.get(`${before} ${last}`) ?? null;
  }

  #followMemory(depth: number): number[] {
    const positions: number[] = [];
    let before = this.#before;
    let last = this.#last;
    for (let ahead = 0; ahead < depth; ahead++) {
      const next = this.#nextByMemory(before, last);
      if (next === null) break;
      positions.push(next);
      before = last;
      last = next;
    }
    return positions;
  }

  #remember(before: number, last: number, next: number): void {
    const context = `${before} ${last}`;
    // Deleted first, so that the map is in the order of last use.
    this.#successors.delete(context);
    this.#successors.set(context, next);
    const [oldest] = this.#successors.keys();
    if (this.#successors.size > REMEMBERED && oldest !== undefined) this.#successors.delete(oldest);
  }
}

function judge(record: boolean[], right: boolean): void {
  keepLast(record, right, JUDGED);
}

function shareOf(record: readonly boolean[]): number {
  return record.filter(Boolean).length / JUDGED;
}

function keepLast<Value>(values: Value[], value: Value, count: number): void {
  values.push(value);
  if (values.length > count) values.shift();
}
