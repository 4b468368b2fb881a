interface Held {
  readonly holder: string;
  readonly sinceMs: number;
}

interface Bounds {
  /** Places of one holder. */
  readonly ofOne: number;
  readonly ofAll: number;
  /** Time after which a place counts as left: the platform may end a request without a word. */
  readonly leaseMs: number;
}

/** Places with a bound for each holder and one for all, in the order in which they were taken. */
export class BoundedPlaces {
  readonly #bounds: Bounds;
  readonly #held = new Map<object, Held>();

  constructor(bounds: Bounds) {
    this.#bounds = bounds;
  }

  /** A place, which must be left; null where the holder or all have too many. */
  enter(holder: string, nowMs: number): object | null {
    const those = this.#alive(nowMs);
    const own = those.filter((held) => held.holder === holder);
    if (those.length >= this.#bounds.ofAll || own.length >= this.#bounds.ofOne) return null;
    const place = {};
    this.#held.set(place, { holder, sinceMs: nowMs });
    return place;
  }

  leave(place: object): void {
    this.#held.delete(place);
  }

  /** Whether none of the same holder was taken before this one. */
  isFirst(place: object, nowMs: number): boolean {
    const own = this.#held.get(place);
    return own !== undefined && this.#alive(nowMs).find(({ holder }) => holder === own.holder) === own;
  }

  #alive(nowMs: number): Held[] {
    for (const [place, { sinceMs }] of this.#held) {
      if (nowMs - sinceMs >= this.#bounds.leaseMs) this.#held.delete(place);
    }
    return [...this.#held.values()];
  }
}
