import { FairPlaces } from "../protocol/inference/fair-places.ts";

interface Held {
  readonly holder: string;
  amount: number;
  /** Amount of the place elsewhere that this one waits for. */
  readonly wanted: number;
  seenAtMs: number;
}

/** Counts of places, or bytes. */
export interface Bounds {
  /** Places of one holder. */
  readonly ofOne: number;
  readonly ofAll: number;
  /** Time after which a place counts as left: the platform may end a request without a word. */
  readonly leaseMs: number;
}

/** Holders whose last turns are known. */
const KNOWN_HOLDERS = 1_000;

/** Limits the places of each holder and of all. The last free places go to holders that have few (`FairPlaces`). */
export class BoundedPlaces {
  readonly #bounds: Bounds;
  /** In the order in which they were taken. */
  readonly #held = new Map<object, Held>();
  readonly #places: FairPlaces<string>;
  /** Number of the last turn of each holder, the latest last. */
  readonly #turns = new Map<string, number>();
  #lastTurn = 0;
  /** Time at which the leases were last looked at. */
  #leasesAtMs = Number.NaN;

  constructor(bounds: Bounds) {
    this.#bounds = bounds;
    this.#places = new FairPlaces(bounds.ofAll);
  }

  hasRoom(holder: string, nowMs: number, amount = 1): boolean {
    this.#endLeases(nowMs);
    return this.#places.heldBy(holder) + amount <= this.#bounds.ofOne && this.#places.hasRoom(holder, amount);
  }

  /**
   * A place of that amount, which must be left; null where the holder or all have too many. `wanted`: the amount of the
   * place elsewhere that it waits for.
   */
  enter(holder: string, nowMs: number, amount = 1, wanted = 1): object | null {
    if (!this.hasRoom(holder, nowMs, amount)) return null;
    this.#places.take(holder, amount);
    const place = {};
    this.#held.set(place, { holder, amount, wanted, seenAtMs: nowMs });
    return place;
  }

  has(place: object): boolean {
    return this.#held.has(place);
  }

  leave(place: object): void {
    const held = this.#held.get(place);
    if (held === undefined) return;
    this.#held.delete(place);
    this.#places.giveBack(held.holder, held.amount);
  }

  /** Changes what a place has; false where there is no room for more. */
  resize(place: object, amount: number, nowMs: number): boolean {
    const held = this.#held.get(place);
    if (held === undefined) return false;
    const more = amount - held.amount;
    if (more > 0 && !this.hasRoom(held.holder, nowMs, more)) return false;
    if (more > 0) this.#places.take(held.holder, more);
    else this.#places.giveBack(held.holder, -more);
    held.amount = amount;
    return true;
  }

  /**
   * Takes the turn of this place, which is kept alive, if its holder comes next: of those for which there is room, the
   * one whose last turn is longest ago, by the place that it took first.
   */
  takeTurn(place: object, nowMs: number, hasRoom: (holder: string, wanted: number) => boolean): boolean {
    const own = this.#held.get(place);
    if (own === undefined) return false;
    own.seenAtMs = nowMs;
    // Mostly there is no room at all.
    if (!hasRoom(own.holder, own.wanted)) return false;
    let next: Held | undefined;
    this.#endLeases(nowMs);
    for (const held of this.#held.values()) {
      const isEarlier = next === undefined || this.#turnOf(held) < this.#turnOf(next);
      if (isEarlier && hasRoom(held.holder, held.wanted)) next = held;
    }
    if (next !== own) return false;
    this.#turns.delete(own.holder);
    this.#turns.set(own.holder, ++this.#lastTurn);
    if (this.#turns.size > KNOWN_HOLDERS) this.#turns.delete(this.#turns.keys().next().value!);
    return true;
  }

  #turnOf({ holder }: Held): number {
    return this.#turns.get(holder) ?? 0;
  }

  #endLeases(nowMs: number): void {
    if (nowMs === this.#leasesAtMs) return;
    this.#leasesAtMs = nowMs;
    for (const [place, { seenAtMs }] of this.#held) if (nowMs - seenAtMs >= this.#bounds.leaseMs) this.leave(place);
  }
}
