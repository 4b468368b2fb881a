/** A holder may have as many times the places that it leaves free. */
const SHARE = 7;

/**
 * Places that several holders share without reservations: one that has them alone may take seven eighths, and each
 * further one finds some free, until those before have left. An amount may be a count or bytes.
 * Source: Choudhury and Hahne, IEEE/ACM Transactions on Networking 6(2), 1998 (dynamic thresholds).
 */
export class FairPlaces<Holder> {
  readonly #limit: number;
  readonly #held = new Map<Holder, number>();
  #taken = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** Places that a holder has. */
  heldBy(holder: Holder): number {
    return this.#held.get(holder) ?? 0;
  }

  hasRoom(holder: Holder, amount = 1): boolean {
    const free = this.#limit - this.#taken - amount;
    return free >= 0 && this.heldBy(holder) <= SHARE * free;
  }

  /** Takes places for a holder, which must give them back; false where there are too few for it. */
  take(holder: Holder, amount = 1): boolean {
    if (!this.hasRoom(holder, amount)) return false;
    this.#held.set(holder, this.heldBy(holder) + amount);
    this.#taken += amount;
    return true;
  }

  giveBack(holder: Holder, amount = 1): void {
    const own = this.heldBy(holder) - amount;
    if (own > 0) this.#held.set(holder, own);
    else this.#held.delete(holder);
    this.#taken -= amount;
  }
}
